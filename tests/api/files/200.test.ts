import { afterAll, beforeAll, expect, it } from 'vitest'
import { sweepFile } from '../../../services/workers/reconcile/sweep-expired.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const bytes = Buffer.alloc(3_000_000, 'abc')

it('stores, returns and deletes a file', async () => {
  const client = api.openai()
  const file = await client.files.create({ file: new File([bytes], 'Größe 1.csv'), purpose: 'user_data' })
  expect(file).toMatchObject({
    id: expect.stringMatching(/^file-/),
    object: 'file',
    bytes: 3_000_000,
    filename: 'Größe 1.csv',
    purpose: 'user_data',
    status: 'processed',
    expires_at: null,
  })
  expect(await client.files.retrieve(file.id)).toEqual(file)
  expect(await client.files.waitForProcessing(file.id)).toEqual(file)
  const content = await client.files.content(file.id)
  expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true)
  const row = await api.table.userFiles.get(api.owner.tenant, file.id)
  expect(row?.objectKey).toMatch(new RegExp(`^tenants/${api.owner.tenant}/${file.id}/files/`))
  expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true })
  await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: 'file_not_found' })
  expect(await api.objects.head(row?.objectKey ?? '')).toBeNull()
})

it('lists files by purpose, in pages and both orders', async () => {
  const key = await api.newKey()
  const client = api.openai(key)
  const made: string[] = []
  for (const [index, purpose] of (['user_data', 'vision', 'user_data', 'assistants', 'user_data'] as const).entries())
    made.push((await client.files.create({ file: new File([String(index)], `${index}.txt`), purpose })).id)
  const all = async (query: object): Promise<string[]> => {
    const ids: string[] = []
    for await (const file of client.files.list({ limit: 2, ...query })) ids.push(file.id)
    return ids
  }
  expect(await all({ order: 'asc' })).toEqual(made)
  expect(await all({})).toEqual(made.toReversed())
  expect(await all({ order: 'asc', purpose: 'user_data' })).toEqual([made[0], made[2], made[4]])
  expect((await client.files.list({ limit: 10_000 })).data).toHaveLength(5)
  for await (const file of client.files.list({ limit: 2 })) await client.files.delete(file.id)
  expect((await client.files.list()).data).toEqual([])
})

it('hides the files of one end user from another', async () => {
  const { tenant } = await api.newKey()
  const [ann, bob] = [await api.newKey({ tenant, subject: 'ann' }), await api.newKey({ tenant, subject: 'bob' })]
  const { id } = await api.openai(ann).files.create({ file: new File(['x'], 'x.txt'), purpose: 'user_data' })
  expect((await api.openai(bob).files.list()).data).toEqual([])
  expect((await api.openai(ann).files.list()).data.map((file) => file.id)).toEqual([id])
})

it('is missing once it has expired and is then removed', async () => {
  const client = api.openai()
  const file = await client.files.create({
    file: new File(['x'], 'x.txt'),
    purpose: 'user_data',
    expires_after: { anchor: 'created_at', seconds: 3600 },
  })
  expect(file.expires_at).toBe(file.created_at + 3600)
  const { tenant } = api.owner
  const row = await api.table.userFiles.get(tenant, file.id)
  if (row === null) throw new Error('no row')
  await api.table.userFiles.remove(tenant, file.id)
  const past = Date.now() - 1000
  await api.table.userFiles.create({ ...row, expiresAt: past })
  await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 })
  await expect(client.containers.create({ name: 'x', file_ids: [file.id] })).rejects.toMatchObject({ status: 404, param: 'file_ids' })
  expect((await client.files.list()).data.map(({ id }) => id)).not.toContain(file.id)
  const [due] = (await api.table.due(Date.now(), 100)).filter(({ id }) => id === file.id)
  if (due === undefined) throw new Error('not due')
  await sweepFile({ ...api, clock: systemClock, limits: createLimitReader(api.table.tenants, systemClock) }, due)
  expect(await api.objects.head(row.objectKey)).toBeNull()
  expect(await api.table.userFiles.get(tenant, file.id)).toBeNull()
})

it('can be copied into containers at their creation and later', async () => {
  const client = api.openai()
  const file = await client.files.create({ file: new File(['a,b'], 'in.csv'), purpose: 'user_data' })
  const { id } = await client.containers.create({ name: 'with file', file_ids: [file.id] })
  const [copy] = (await client.containers.files.list(id)).data
  expect(copy).toMatchObject({ path: '/mnt/data/in.csv', bytes: 3, source: 'user' })
  expect(copy?.id).toMatch(/^cfile_/)
  const second = await client.containers.create({ name: 'later' })
  const added = await client.containers.files.create(second.id, { file_id: file.id })
  expect(added.path).toBe('/mnt/data/in.csv')
  await client.files.delete(file.id)
  const content = await client.containers.files.content.retrieve(added.id, { container_id: second.id })
  expect(await content.text()).toBe('a,b')
})
