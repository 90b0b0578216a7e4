import { afterAll, beforeAll, expect, it } from 'vitest'
import { upload } from '../support/librechat.ts'
import { startApi, type TestApi } from '../support/start-api.ts'

/** In place of the 4 MB and 190 MB of a function URL. */
const answerBytes = { redirectBytes: 5, maxBytes: 8 }
let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { answerBytes } })
})
afterAll(() => api.stop())

const download = async (text: string): Promise<Response> => {
  const { session, fileId } = await upload(api, 'data.csv', text)
  return api.fetch(`/librechat/v1/download/${session}/${fileId}`, { redirect: 'manual' })
}

it('answers a download of LibreChat with a link above the size that the platform streams well', async () => {
  const small = await download('12345')
  expect([small.status, await small.text()]).toEqual([200, '12345'])
  const large = await download('123456')
  expect(large.status).toBe(302)
  expect(large.headers.get('cache-control')).toBe('no-store')
  const followed = await fetch(large.headers.get('location') ?? '')
  expect([await followed.text(), followed.headers.get('content-disposition')]).toEqual(['123456', expect.stringContaining('data.csv')])
})

it('refuses a download of E2B above the size that the platform streams at all, because its Python client follows no redirect', async () => {
  const created = await fetch(`${api.url}/e2b/v2/sandboxes`, { method: 'POST', headers: { 'x-api-key': api.owner.key } })
  const { sandboxID, envdAccessToken } = (await created.json()) as { sandboxID: string; envdAccessToken: string }
  const headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken }
  const at = (name: string): string => `${api.url}/e2b/files?path=${encodeURIComponent(`/home/user/${name}`)}`
  const write = async (name: string, body: string): Promise<void> => {
    const form = new FormData()
    form.append('file', new File([body], name))
    expect((await fetch(at(name), { method: 'POST', headers, body: form })).status).toBe(200)
  }
  await write('small', '12345678')
  expect(await (await fetch(at('small'), { headers })).text()).toBe('12345678')
  await write('large', '123456789')
  const refused = await fetch(at('large'), { headers })
  expect(refused.status).toBe(413)
  const { message } = (await refused.json()) as { message: string }
  const path = /GET (\S+),/.exec(message)?.[1]
  const link = await api.fetch(path ?? '/')
  expect(await (await fetch(link.headers.get('location') ?? '')).text()).toBe('123456789')
})
