import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ImageCatalogue } from '../../../services/model/containers/images.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

it("creates, gets, lists and deletes with OpenAI's own client", async () => {
  const client = api.openai()
  const made = await client.containers.create({
    name: 'work',
    expires_after: { anchor: 'last_active_at', minutes: 7 },
    memory_limit: '4g',
    network_policy: { type: 'disabled' },
  })
  expect(made).toMatchObject({
    object: 'container',
    name: 'work',
    status: 'running',
    memory_limit: '4g',
    expires_after: { anchor: 'last_active_at', minutes: 7 },
    network_policy: { type: 'disabled' },
  })
  expect(made.id).toMatch(/^cntr_/)
  expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(60)
  expect(await client.containers.retrieve(made.id)).toEqual(made)

  await client.containers.delete(made.id)
  await expect(client.containers.retrieve(made.id)).rejects.toMatchObject({ status: 404, code: 'container_not_found' })
})

it('pages through a list in both orders and by name', async () => {
  const key = await api.newKey()
  const client = api.openai(key)
  for (let n = 0; n < 5; n++) await client.containers.create({ name: n === 2 ? 'special' : `c${n}` })
  const names = async (order: 'asc' | 'desc'): Promise<string[]> => {
    const seen = []
    for await (const container of client.containers.list({ limit: 2, order })) seen.push(container.name)
    return seen
  }
  expect(await names('asc')).toEqual(['c0', 'c1', 'special', 'c3', 'c4'])
  expect(await names('desc')).toEqual(['c4', 'c3', 'special', 'c1', 'c0'])
  const { data } = await client.containers.list({ name: 'special' })
  expect(data.map((container) => container.name)).toEqual(['special'])
  expect((await client.containers.list({ after: 'cntr_nosuch' })).data).toEqual([])
})

it('returns an empty list in its envelope', async () => {
  const answer = await api.fetch('/v1/containers', { key: await api.newKey() })
  expect(await answer.json()).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false })
})

it('copies the files named at its creation', async () => {
  const client = api.openai()
  const source = await client.containers.create({ name: 'source' })
  const file = await client.containers.files.create(source.id, { file: new File(['hello'], 'a.txt') })
  const copy = await client.containers.create({ name: 'copy', file_ids: [file.id] })
  await client.containers.delete(source.id)
  const { data } = await client.containers.files.list(copy.id)
  expect(data).toMatchObject([{ path: '/mnt/data/a.txt', bytes: 5, container_id: copy.id }])
  expect(data[0]?.id).not.toBe(file.id)
  expect(await (await client.containers.files.content.retrieve(data[0]?.id ?? '', { container_id: copy.id })).text()).toBe('hello')
})

it('keeps every one of several files with one name, also when the names differ in their Unicode form only', async () => {
  const client = api.openai()
  const upload = async (name: string, text: string) =>
    (await client.files.create({ file: new File([text], name), purpose: 'user_data' })).id
  const names = ['data.csv', 'data.csv', 'B\u00fccher.csv', 'Bu\u0308cher.csv']
  const ids: string[] = []
  for (const [index, name] of names.entries()) ids.push(await upload(name, `content ${index}`))
  const { id } = await client.containers.create({ name: 'several', file_ids: ids })
  const { data } = await client.containers.files.list(id)
  const texts = await Promise.all(
    data.map(async (file) => [
      file.path.replace(/-[0-9a-f]{8}/, '-#'),
      await (await client.containers.files.content.retrieve(file.id, { container_id: id })).text(),
    ]),
  )
  expect(texts.toSorted()).toEqual([
    ['/mnt/data/B\u00fccher-#.csv', 'content 2'],
    ['/mnt/data/B\u00fccher.csv', 'content 3'],
    ['/mnt/data/data-#.csv', 'content 0'],
    ['/mnt/data/data.csv', 'content 1'],
  ])
})

it('ends the executions of a deleted container', async () => {
  const { id } = await api.openai().containers.create({ name: 'busy' })
  const execution = (await (await api.post(`/v1/containers/${id}/executions?wait=0`, { code: 'x' })).json()) as { id: string }
  const answer = await api.fetch(`/v1/containers/${id}`, { method: 'DELETE' })
  expect(await answer.json()).toEqual({ id, object: 'container.deleted', deleted: true })
  expect(await api.table.executions.get(api.owner.tenant, execution.id)).toMatchObject({ status: 'cancelled', reason: 'caller' })
  expect((await api.fetch(`/v1/containers/${id}`, { method: 'DELETE' })).status).toBe(404)
})

it("shows a key bound to an end user only that user's containers", async () => {
  const { tenant } = await api.newKey()
  const [ann, bob, admin] = await Promise.all([
    api.newKey({ tenant, subject: 'ann' }),
    api.newKey({ tenant, subject: 'bob' }),
    api.newKey({ tenant }),
  ])
  const hers = await api.openai(ann).containers.create({ name: 'hers' })
  await api.openai(bob).containers.create({ name: 'his' })
  expect((await api.openai(ann).containers.list({ limit: 1 })).data.map((container) => container.name)).toEqual(['hers'])
  expect((await api.openai(admin).containers.list()).data).toHaveLength(2)
  await expect(api.openai(bob).containers.retrieve(hers.id)).rejects.toMatchObject({ status: 404 })
})

describe('with two images', () => {
  let images: ImageCatalogue
  let twoImages: TestApi
  beforeAll(async () => {
    images = new ImageCatalogue({ slim: 'sandbox:1', standard: 'sandbox:1-standard' }, 'slim')
    twoImages = await startApi({ images })
  })
  afterAll(() => twoImages.stop())
  const create = async (body: object): Promise<{ readonly id: string; readonly image: string }> =>
    (await (await twoImages.post('/v1/containers', { name: 'x', ...body })).json()) as { id: string; image: string }

  it('reports the image that a container names, and the default of one that names none', async () => {
    expect(await create({ image: 'standard' })).toMatchObject({ image: 'standard' })
    expect(await create({})).toMatchObject({ image: 'slim' })
  })

  it('names the images that may be chosen in a refusal', async () => {
    const answer = await twoImages.post('/v1/containers', { name: 'x', image: 'full' })
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('slim, standard') } })
  })

  it('takes a new default image for containers that name none', async () => {
    const [plain, fixed] = [await create({}), await create({ image: 'slim' })]
    images.add('standard', 'sandbox:2-standard', { asDefault: true })
    const image = async (id: string): Promise<unknown> => (await twoImages.fetch(`/v1/containers/${id}`)).json()
    expect(await image(plain.id)).toMatchObject({ image: 'standard' })
    expect(await image(fixed.id)).toMatchObject({ image: 'slim' })
  })
})
