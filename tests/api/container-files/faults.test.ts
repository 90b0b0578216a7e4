import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** Runs `work` while the table cannot record that a container's files changed. */
async function withDeafContainers<T>(work: () => Promise<T>): Promise<T> {
  const whole = { ...api.table.containers }
  Object.assign(api.table.containers, { filesChanged: () => Promise.reject(new Error('The table failed')) })
  try {
    return await work()
  } finally {
    Object.assign(api.table.containers, whole)
  }
}
const newContainer = async (): Promise<string> => (await api.openai().containers.create({ name: 'x' })).id
function formOf(text: string): FormData {
  const form = new FormData()
  form.set('file', new Blob([text]), 'data.txt')
  return form
}
const upload = (id: string, text: string): Promise<Response> =>
  api.fetch(`/v1/containers/${id}/files`, { method: 'POST', body: formOf(text) })
const versionOf = async (id: string): Promise<number> => (await api.table.containers.get(api.owner.tenant, id))?.filesVersion ?? 0

it('an interrupted upload leaves no file without bytes and can be repeated', async () => {
  const id = await newContainer()
  expect((await upload(id, 'first')).status).toBe(200)
  expect((await withDeafContainers(() => upload(id, 'second'))).status).toBe(500)
  const { data } = await api.openai().containers.files.list(id)
  expect(data.map(({ path }) => path)).toEqual(['/mnt/data/data.txt'])
  for (const file of data) expect((await api.openai().containers.files.content.retrieve(file.id, { container_id: id })).status).toBe(200)
  expect((await upload(id, 'third')).status).toBe(200)
  const [file, ...others] = (await api.openai().containers.files.list(id)).data
  expect(others).toEqual([])
  const content = await api.openai().containers.files.content.retrieve(file?.id ?? '', { container_id: id })
  expect(await content.text()).toBe('third')
})

it('a large upload with an interrupted completion updates the container when it is completed again', async () => {
  const id = await newContainer()
  await upload(id, 'old')
  const made = await api.post(`/v1/containers/${id}/files/upload_url`, { path: 'data.txt', bytes: 3 })
  const wanted = (await made.json()) as { readonly id: string; readonly url: string; readonly headers: Record<string, string> }
  expect((await fetch(wanted.url, { method: 'PUT', body: 'new', headers: wanted.headers })).status).toBe(200)
  const complete = (): Promise<Response> => api.post(`/v1/containers/${id}/files/${wanted.id}/complete`, {})
  expect((await withDeafContainers(complete)).status).toBe(500)
  const before = await versionOf(id)
  expect((await complete()).status).toBe(200)
  expect(await versionOf(id)).toBeGreaterThan(before)
  expect((await api.openai().containers.files.list(id)).data.map((file) => file.id)).toEqual([wanted.id])
})

it('an interrupted deletion updates the container when it is repeated', async () => {
  const id = await newContainer()
  await upload(id, 'text')
  const [file] = (await api.openai().containers.files.list(id)).data
  const remove = (): Promise<Response> => api.fetch(`/v1/containers/${id}/files/${file?.id}`, { method: 'DELETE' })
  const before = await versionOf(id)
  expect((await withDeafContainers(remove)).status).toBe(500)
  expect(await versionOf(id)).toBe(before)
  expect((await remove()).status).toBe(404)
  expect(await versionOf(id)).toBeGreaterThan(before)
})

it('an account file whose row was written with a lost reply keeps its bytes', async () => {
  const whole = { ...api.table.userFiles }
  const create: typeof whole.create = async (row) => {
    await whole.create(row)
    throw new Error('The answer got lost')
  }
  Object.assign(api.table.userFiles, { create })
  const form = formOf('text')
  form.set('purpose', 'user_data')
  const answer = await api.fetch('/v1/files', { method: 'POST', body: form })
  Object.assign(api.table.userFiles, whole)
  expect(answer.status).toBe(500)
  expect((await api.openai().files.list()).data).toEqual([])
})
