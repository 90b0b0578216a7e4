import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { heldBytes, jsonHead, openConnection, requestHead, type RawConnection } from '../../support/raw-connection.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const MiB = 1024 ** 2
const STALL_MS = 2_000
let api: TestApi
let opened: RawConnection[] = []
beforeAll(async () => {
  api = await startApi({ config: { stallMs: STALL_MS } })
})
afterAll(() => api.stop())
beforeEach(() => {
  for (const { socket } of opened) socket.destroy()
  opened = []
})

async function send(...parts: readonly (string | Buffer)[]): Promise<RawConnection> {
  const connection = await openConnection(api.url)
  opened.push(connection)
  for (const part of parts) connection.socket.write(part)
  return connection
}
const code = (connection: RawConnection): string | undefined => /"code":"(\w+)"/.exec(connection.received())?.[1]

it('serves other tenants while one announces two bodies that fill the pool and sends one byte of each', async () => {
  await send(jsonHead('/v1/responses', api.owner, 72 * MiB), '{')
  await send(jsonHead('/v1/responses', api.owner, 56 * MiB), '{')
  for (const key of [api.owner, api.otherTenant]) {
    const answer = await api.post('/v1/conversations', { items: [] }, { key })
    expect(answer.status).toBe(200)
  }
})

/** Requests of these routes that have ended since. */
const ends = (before: number) =>
  api.events
    .slice(before)
    .filter(({ event, route }) => event === 'http.request' && (route === 'createConversation' || route === 'createFile'))

it('ends 50 stalled bodies with 408 after the stall time', async () => {
  const before = api.events.length
  const body = Buffer.alloc(MiB - 1, ' ')
  const connections = await Promise.all(Array.from({ length: 50 }, () => send(jsonHead('/v1/conversations', api.owner, MiB), body)))
  await expect
    .poll(() => ends(before).map(({ status }) => status), { timeout: 10 * STALL_MS })
    .toEqual(Array.from({ length: 50 }, () => 408))
  await expect.poll(() => connections.map(code)).toEqual(Array.from({ length: 50 }, () => 'request_timeout'))
  await expect.poll(() => connections.every(({ isClosed }) => isClosed()), { timeout: 10_000 }).toBe(true)
})

it('holds no more of unfinished bodies than the share of their tenant', async () => {
  const patient = await startApi({ config: { maxRequestBytesInFlight: 4 * 8 * MiB } })
  const body = Buffer.alloc(4 * MiB - 1, ' ')
  const before = heldBytes()
  for (let at = 0; at < 12; at++) {
    const connection = await openConnection(patient.url)
    opened.push(connection)
    connection.socket.write(jsonHead('/v1/conversations', patient.owner, 4 * MiB))
    connection.socket.write(body)
  }
  await expect
    .poll(() => patient.events.filter(({ code: reason }) => reason === 'too_many_request_bytes').length, { timeout: 20_000 })
    .toBeGreaterThan(3)
  await expect.poll(() => (heldBytes() - before) / MiB, { timeout: 10_000, interval: 500 }).toBeLessThan(12)
  expect((await patient.post('/v1/conversations', { items: [] }, { key: patient.otherTenant })).status).toBe(200)
  for (const { socket } of opened) socket.destroy()
  await expect.poll(async () => (await patient.post('/v1/conversations', { items: [] })).status).toBe(200)
  await patient.stop()
}, 60_000)

it.each([
  ['a body that comes one byte at a time', '/v1/conversations', {}],
  ['a sign-in without a key', '/session', null],
  ['a file', '/v1/files', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['a skill', '/v1/skills', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['a call of MCP', '/mcp', { accept: 'application/json, text/event-stream' }],
] as const)('ends with 408 %s', async (_, path, headers) => {
  const page = path === '/session' ? await pageApi() : null
  const target = page ?? api
  const connection = await openConnection(target.url)
  opened.push(connection)
  connection.socket.write(
    requestHead(`POST ${path}`, {
      ...(headers !== null && { key: api.owner }),
      headers: { 'content-type': 'application/json', 'content-length': '4000', ...headers },
    }),
  )
  connection.socket.write(
    path.startsWith('/v1/') && path !== '/v1/conversations'
      ? `--x\r\ncontent-disposition: form-data; name="${path === '/v1/files' ? 'file' : 'files[]'}"; filename="a"\r\n\r\nx`
      : ' ',
  )
  const dripping = setInterval(() => connection.socket.write(' '), 100)
  expect(await connection.status().finally(() => clearInterval(dripping))).toBe(408)
  expect(code(connection)).toBe('request_timeout')
  await expect.poll(connection.isClosed, { timeout: 5_000 }).toBe(true)
  await page?.stop()
})

/** A server with the playground's sessions. */
const pageApi = (): Promise<TestApi> =>
  startApi({
    config: { stallMs: STALL_MS },
    page: {
      readFile: null,
      objectOrigins: [],
      redeemSignIn: () => null,
      sessionSecret: async () => new Uint8Array(32),
    },
  })

it('takes a slow body that makes progress', async () => {
  const text = JSON.stringify({ items: [], metadata: { text: 'x' } }).padEnd(40_000, ' ')
  const connection = await send(jsonHead('/v1/conversations', api.owner, text.length))
  // 10 KB per second take longer than the stall time.
  for (let at = 0; at < text.length; at += 1_000) {
    connection.socket.write(text.slice(at, at + 1_000))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(await connection.status()).toBe(200)
}, 30_000)

it.each([
  ['JSON', 'application/json'],
  ['a form', 'multipart/form-data; boundary=x'],
])('counts a client that leaves in the middle of %s as refused, not as a failure of the server', async (_, type) => {
  const path = type.startsWith('multipart') ? '/v1/files' : '/v1/conversations'
  const before = api.events.length
  const connection = await send(
    requestHead(`POST ${path}`, { key: api.owner, headers: { 'content-type': type, 'content-length': '4000' } }),
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx',
  )
  await new Promise((resolve) => setTimeout(resolve, 100))
  connection.socket.destroy()
  await expect.poll(() => ends(before).length).toBe(1)
  expect(ends(before)).toMatchObject([{ outcome: 'refused', status: 499 }])
})

it('counts a body that arrives byte by byte by its size', async () => {
  const before = heldBytes()
  const connection = await send(jsonHead('/v1/conversations', api.owner, 400_000))
  connection.socket.setNoDelay(true)
  for (let at = 0; at < 100_000; at++) connection.socket.write(' ')
  await expect.poll(() => connection.socket.writableLength).toBe(0)
  expect((heldBytes() - before) / MiB).toBeLessThan(16)
})
