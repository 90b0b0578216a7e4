import { afterAll, beforeAll, expect, it } from 'vitest'
import { openConnection, requestHead, type RawConnection } from '../../support/raw-connection.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const MOST = 10
let api: TestApi
beforeAll(async () => {
  api = await startApi({ maxKeyless: MOST })
})
afterAll(() => api.stop())

it('closes the oldest connection of an address that opens too many without a key, and none that sent one', async () => {
  const known = await openConnection(api.url)
  known.socket.write(requestHead('GET /v1/containers', { key: api.owner }))
  expect(await known.status()).toBe(200)
  const wrong = await openConnection(api.url)
  wrong.socket.write(requestHead('GET /v1/containers', { key: { ...api.owner, key: 'ck_wrong' } }))
  expect(await wrong.status()).toBe(401)

  const connections: RawConnection[] = []
  for (let at = 0; at < 3 * MOST; at++) connections.push(await openConnection(api.url))
  const open = () => connections.filter(({ isClosed }) => !isClosed()).length
  await expect.poll(open).toBe(MOST)
  await expect.poll(wrong.isClosed).toBe(true)
  expect(connections[0]?.received()).toMatch(/^HTTP\/1\.1 429 [^]*"code":"too_many_connections"/)
  expect(connections.slice(-MOST).every(({ isClosed }) => !isClosed())).toBe(true)

  const before = known.received().length
  known.socket.write(requestHead('GET /v1/containers', { key: api.owner }))
  await expect.poll(() => known.received().slice(before)).toMatch(/^HTTP\/1\.1 200 /)
  expect((await api.fetch('/v1/containers')).status).toBe(200)
  for (const { socket } of [known, ...connections]) socket.destroy()
})

it('does not close a download by a signed link', async () => {
  const { id: containerId } = await api.openai().containers.create({ name: 'links' })
  const file = await api.openai().containers.files.create(containerId, { file: new File([new Uint8Array(20_000_000)], 'large.bin') })
  const link = (await api.fetch(`/v1/containers/${containerId}/files/${file.id}/content`)).headers.get('location') ?? ''
  const download = await openConnection(api.url, { isReading: false })
  download.socket.write(requestHead(`GET ${new URL(link).pathname}`, { headers: { connection: 'close' } }))
  const connections: RawConnection[] = []
  for (let at = 0; at < 2 * MOST; at++) connections.push(await openConnection(api.url))
  let bytes = 0
  download.socket.on('data', (chunk: Buffer) => (bytes += chunk.byteLength))
  await expect.poll(download.isClosed, { timeout: 10_000 }).toBe(true)
  expect(bytes).toBeGreaterThan(20_000_000)
  for (const { socket } of connections) socket.destroy()
})
