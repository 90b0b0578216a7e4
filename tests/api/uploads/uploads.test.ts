import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

interface Upload {
  readonly id: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly expires_at: string
}

let api: TestApi
let path: string
beforeAll(async () => {
  api = await startApi()
  path = `/v1/containers/${(await api.openai().containers.create({ name: 'uploads' })).id}/files`
})
afterAll(() => api.stop())

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const start = async (body: object): Promise<Upload> => (await api.post(`${path}/upload_url`, body)).json() as Promise<Upload>
const put = (upload: Upload, body: string): Promise<Response> => fetch(upload.url, { method: 'PUT', body, headers: upload.headers })
const complete = (id: string): Promise<Response> => api.fetch(`${path}/${id}/complete`, { method: 'POST' })

it('stores a large file by a presigned URL and lists it after completion', async () => {
  const upload = await start({ path: 'big/data.csv', bytes: 5, sha256: sha256('hello').toUpperCase() })
  expect(Date.parse(upload.expires_at) - Date.now()).toBeLessThanOrEqual(300_000)
  expect((await api.fetch(`${path}/${upload.id}`)).status).toBe(404)
  expect((await complete(upload.id)).status).toBe(409)

  expect((await put(upload, 'hello')).status).toBe(200)
  const done = await complete(upload.id)
  expect(done.status).toBe(200)
  expect(await done.json()).toMatchObject({
    id: upload.id,
    path: '/mnt/data/big/data.csv',
    bytes: 5,
    sha256: sha256('hello'),
    mime: 'text/csv',
  })
  expect((await complete(upload.id)).status).toBe(200)
  const list = (await (await api.fetch(path)).json()) as { data: { id: string }[] }
  expect(list.data.map((file) => file.id)).toContain(upload.id)
})

it('replaces the previous version', async () => {
  const names = async (): Promise<number> =>
    ((await (await api.fetch(path)).json()) as { data: { path: string }[] }).data.filter((file) => file.path.endsWith('again.txt')).length
  for (const text of ['one', 'two']) {
    const upload = await start({ path: 'again.txt', bytes: 3 })
    await put(upload, text)
    await complete(upload.id)
  }
  expect(await names()).toBe(1)
})

it('refuses bytes that differ from the declared ones', async () => {
  const upload = await start({ path: 'a.txt', bytes: 5, sha256: sha256('hello') })
  await put(upload, 'hallo')
  const answer = await complete(upload.id)
  expect([answer.status, await answer.json()]).toMatchObject([409, { error: { code: 'upload_incomplete' } }])
  expect(answer.headers.get('x-should-retry')).toBe('false')
})

it.for([
  [{ path: '../x', bytes: 1 }, 400, 'invalid_file_name'],
  [{ path: 'x', bytes: -1 }, 400, 'invalid_request'],
  [{ path: 'x', bytes: 1.5 }, 400, 'invalid_request'],
  [{ path: 'x', bytes: 1e15 }, 413, 'request_too_large'],
  [{ path: 'x', bytes: 1, sha256: 'zz' }, 400, 'invalid_request'],
] as const)('refuses %j', async ([body, status, code]) => {
  const answer = await api.post(`${path}/upload_url`, body)
  expect([answer.status, await answer.json()]).toMatchObject([status, { error: { code } }])
})
