import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const BASE = '/librechat/v1'
type Json = Record<string, unknown>
const json = async (answer: Response): Promise<Json> => (await answer.json()) as Json

async function upload(name: string, text: string): Promise<{ session: string; fileId: string }> {
  const form = new FormData()
  form.set('file', new File([text], name))
  const body = await json(await api.fetch(`${BASE}/upload`, { method: 'POST', body: form }))
  return { session: String(body['session_id']), fileId: (body['files'] as { fileId: string }[])[0]?.fileId ?? '' }
}

it('gives the bytes of a file only to a key with the scope "files"', async () => {
  const { session, fileId } = await upload('a.txt', 'secret')
  const { tenant } = api.owner
  const [reader, files] = [await api.newKey({ tenant, scopes: ['read'] }), await api.newKey({ tenant, scopes: ['files'] })]
  const path = `${BASE}/download/${session}/${fileId}`
  expect((await api.fetch(path, { key: reader })).status).toBe(403)
  expect(await (await api.fetch(path, { key: files })).text()).toBe('secret')
  expect((await api.fetch(`${BASE}/files/${session}`, { key: reader })).status).toBe(200)
})
