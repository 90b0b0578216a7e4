import { afterAll, beforeAll, expect, it } from 'vitest'
import { openConnection, requestHead } from '../../support/raw-connection.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const MB = 1_000_000
let api: TestApi
beforeAll(async () => void (api = await startApi({ config: { maxResultBytesInFlight: 32 * 1024 ** 2 } })))
afterAll(() => api.stop())

const VIEW = '/open-webui/files/view?path=/mnt/data/f'
const headersOf = ({ key }: TestKey) => ({ authorization: `Bearer ${key}`, 'x-user-id': 'user' })

async function store(key: TestKey, bytes: number): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(bytes)]), 'f')
  const path = '/open-webui/files/upload?directory=/mnt/data'
  const answer = await api.fetch(path, { method: 'POST', headers: headersOf(key), body: form, key: null })
  expect(answer.status).toBe(200)
}

const download = (key: TestKey): Promise<Response> => api.fetch(VIEW, { headers: headersOf(key), key: null })

async function statusOf(request: Promise<Response>): Promise<number> {
  const answer = await request
  await answer.arrayBuffer()
  return answer.status
}

it('refuses a file beyond the share of files that the tenant does not read, and none of another tenant', async () => {
  await store(api.owner, 16 * MB)
  await store(api.otherTenant, MB)
  // A quarter of the budget is four files.
  const unread = await Promise.all(Array.from({ length: 4 }, () => openConnection(api.url, { isReading: false })))
  for (const { socket } of unread) {
    socket.pause()
    socket.write(requestHead(`GET ${VIEW}`, { headers: headersOf(api.owner) }))
  }
  await expect.poll(() => api.events.filter(({ route }) => route === 'open-webui get /files/view').length).toBe(4)
  const refused = await download(api.owner)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  const other = await download(api.otherTenant)
  expect((await other.arrayBuffer()).byteLength).toBe(MB)
  for (const { socket } of unread) socket.destroy()
  await expect.poll(() => statusOf(download(api.owner))).toBe(200)
})
