import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const file = new File(['x'], 'x.txt')
const send = (parts: Record<string, File | string>): Promise<Response> => {
  const body = new FormData()
  for (const [name, value] of Object.entries(parts)) body.append(name, value)
  return api.fetch('/v1/files', { method: 'POST', body })
}

it.for([
  ['no purpose', { file }, 'invalid_request', 'purpose'],
  ['an unknown purpose', { file, purpose: 'fun' }, 'invalid_request', 'purpose'],
  ['no file', { purpose: 'user_data' }, 'invalid_request', 'file'],
  ['a name that no file may have', { file: new File(['x'], 'a\u202eb.txt'), purpose: 'user_data' }, 'invalid_file_name', 'file'],
  ['a life without an anchor', { file, purpose: 'user_data', 'expires_after[seconds]': '3600' }, 'invalid_request', 'expires_after.anchor'],
  [
    'a life that is too short',
    { file, purpose: 'user_data', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '60' },
    'invalid_request',
    'expires_after.seconds',
  ],
  [
    'a life that is no number',
    { file, purpose: 'user_data', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '1e9' },
    'invalid_request',
    'expires_after.seconds',
  ],
] as const)('returns 400 for %s', async ([, parts, code, param]) => {
  const answer = await send(parts)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ error: { code, param } })
})

it('returns 415 for JSON', async () => {
  expect((await api.post('/v1/files', { purpose: 'user_data' })).status).toBe(415)
})

it('returns 413 for more than 512 MB before a byte is read', async () => {
  const answer = await api
    .openai()
    .uploads.create({ filename: 'x', bytes: 600 * 1024 * 1024, mime_type: 'x/y', purpose: 'user_data' })
    .catch((error: unknown) => error)
  expect(answer).toMatchObject({ status: 413, code: 'request_too_large', param: 'bytes' })
})

it('returns 404 for an input with a missing file', async () => {
  const content = [{ type: 'input_file' as const, file_id: 'file-01kajv9h2s8p0ww3d4dq4cs1zt' }]
  await expect(api.openai().responses.create({ model: 'demo', input: [{ role: 'user', content }] })).rejects.toMatchObject({
    status: 404,
    code: 'file_not_found',
    param: 'input[0].content[0].file_id',
  })
})
