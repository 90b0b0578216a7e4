import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'files' })).id
})
afterAll(() => api.stop())

const form = (parts: Record<string, File | string>): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(parts)) data.append(name, value)
  return data
}
const upload = (parts: Record<string, File | string>): Promise<Response> =>
  api.fetch(`/v1/containers/${containerId}/files`, { method: 'POST', body: form(parts) })

it('stores a file with its size and hash, and returns the bytes', async () => {
  const bytes = Buffer.alloc(3_000_000, 'abc')
  const client = api.openai()
  const version = (await api.table.containers.get(api.owner.tenant, containerId))?.filesVersion ?? 0
  const file = await client.containers.files.create(containerId, { file: new File([bytes], 'Größe 1.csv', { type: 'text/csv' }) })
  expect(file).toMatchObject({
    object: 'container.file',
    container_id: containerId,
    bytes: 3_000_000,
    path: '/mnt/data/Größe 1.csv',
    source: 'user',
    mime: 'text/csv',
  })
  expect(file).toMatchObject({ sha256: createHash('sha256').update(bytes).digest('hex') })
  expect(await client.containers.files.retrieve(file.id, { container_id: containerId })).toEqual(file)
  const content = await client.containers.files.content.retrieve(file.id, { container_id: containerId })
  expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true)
  expect((await api.table.containers.get(api.owner.tenant, containerId))?.filesVersion).toBe(version + 1)
})

it('redirects to the bytes without caching or referrers', async () => {
  const { id } = await api.openai().containers.files.create(containerId, { file: new File(['<script>'], 'page.html') })
  const answer = await api.fetch(`/v1/containers/${containerId}/files/${id}/content`)
  expect(answer.status).toBe(302)
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const bytes = await fetch(answer.headers.get('location') ?? '')
  expect(bytes.headers.get('content-disposition')).toMatch(/^attachment/)
})

it('stores a file in the folder of `path`, sent before or after the file', async () => {
  for (const parts of [
    { path: 'in/one.txt', file: new File(['1'], 'x.txt') },
    { file: new File(['2'], 'x.txt'), path: '/mnt/data/in/two.txt' },
  ]) {
    const answer = await upload(parts)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ path: `/mnt/data/in/${'path' in parts && parts.path.includes('one') ? 'one' : 'two'}.txt` })
  }
})

it('lists current files only, and keeps the old version under its id', async () => {
  const { id } = await api.openai().containers.create({ name: 'versions' })
  const client = api.openai()
  const first = await client.containers.files.create(id, { file: new File(['one'], 'v.txt') })
  const second = await client.containers.files.create(id, { file: new File(['two!'], 'v.txt') })
  await client.containers.files.create(id, { file: new File([''], 'empty') })
  const paths = []
  for await (const file of client.containers.files.list(id, { limit: 1, order: 'asc' })) paths.push([file.id, file.path, file.bytes])
  expect(paths).toMatchObject([
    [second.id, '/mnt/data/v.txt', 4],
    [expect.any(String), '/mnt/data/empty', 0],
  ])
  expect(await (await client.containers.files.content.retrieve(first.id, { container_id: id })).text()).toBe('one')
})

it('lists all files to a client that deletes them between pages', async () => {
  const { id } = await api.openai().containers.create({ name: 'cleaned' })
  const { files } = api.openai().containers
  for (const name of ['a', 'b', 'c']) await files.create(id, { file: new File([''], name) })
  for await (const file of files.list(id, { limit: 1 })) await files.delete(file.id, { container_id: id })
  expect((await files.list(id)).data).toEqual([])
})

it('has one current version after concurrent uploads of one path', async () => {
  const { id } = await api.openai().containers.create({ name: 'race' })
  await Promise.all(
    Array.from({ length: 8 }, (_, n) => api.openai().containers.files.create(id, { file: new File([String(n)], 'same.txt') })),
  )
  expect((await api.openai().containers.files.list(id)).data).toHaveLength(1)
})

it('copies a file from another container by JSON and by form', async () => {
  const client = api.openai()
  const other = await client.containers.create({ name: 'other' })
  const source = await client.containers.files.create(other.id, { file: new File(['copy me'], 'c.txt') })
  const byJson = await api.post(`/v1/containers/${containerId}/files`, { file_id: source.id, path: 'copies/c.txt' })
  expect(await byJson.json()).toMatchObject({
    path: '/mnt/data/copies/c.txt',
    bytes: 7,
    sha256: createHash('sha256').update('copy me').digest('hex'),
  })
  expect(await client.containers.files.create(containerId, { file_id: source.id })).toMatchObject({ path: '/mnt/data/c.txt' })
})

it('deletes a file and its bytes', async () => {
  const client = api.openai()
  const file = await client.containers.files.create(containerId, { file: new File(['x'], 'gone.txt') })
  const row = await api.table.files.get(api.owner.tenant, containerId, file.id)
  const answer = await api.fetch(`/v1/containers/${containerId}/files/${file.id}`, { method: 'DELETE' })
  expect(await answer.json()).toEqual({ id: file.id, object: 'container.file.deleted', deleted: true })
  await expect(client.containers.files.retrieve(file.id, { container_id: containerId })).rejects.toMatchObject({
    status: 404,
    code: 'file_not_found',
  })
  expect(await api.objects.head(row?.objectKey ?? '')).toBeNull()
})
