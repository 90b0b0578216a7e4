import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { newId } from '../../../services/model/ids.ts'
import { heldBytes } from '../../support/raw-connection.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

const MiB = 1024 ** 2
const STALL_MS = 2_000
let api: TestApi
const opened: WebSocket[] = []
beforeAll(async () => {
  api = await startApi({ config: { stallMs: STALL_MS } })
})
afterAll(() => api.stop())
afterEach(() => opened.splice(0).forEach((socket) => socket.terminate()))

/** `{}` as a masked text frame. */
const EMPTY_OBJECT = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d])

interface Network {
  readonly _socket: Socket
}

/** A client that reads nothing after the handshake. */
async function open({ isReading = false, key = api.owner } = {}): Promise<{ socket: WebSocket; network: Socket }> {
  const socket = new WebSocket(`${api.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${key.key}` } })
  opened.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'open')
  const network = (socket as unknown as Network)['_socket']
  if (!isReading) network.pause()
  return { socket, network }
}

const steer = (bytes: number): string =>
  JSON.stringify({ type: 'response.steer', input: 'x'.repeat(bytes), previous_response_id: 'resp_x' })

it('holds less than 1 MiB for a client that sends large messages and reads no answer', async () => {
  const message = steer(9_000_000)
  const { socket, network } = await open()
  const before = heldBytes()
  for (let at = 0; at < 8; at++) await new Promise((resolve) => socket.send(message, resolve))
  await expect.poll(() => network.writableLength, { timeout: 10_000 }).toBe(0)
  await expect.poll(() => (heldBytes() - before) / MiB, { timeout: 10_000, interval: 500 }).toBeLessThan(1)
  expect(socket.readyState).toBe(WebSocket.OPEN)
})

it('does not return long input, and returns short input', async () => {
  const { socket } = await open({ isReading: true })
  socket.send(steer(100_000))
  const [long] = (await once(socket, 'message')) as [Buffer]
  expect(JSON.parse(long.toString())).toMatchObject({ type: 'response.steer.failed', steer: { input: [], previous_response_id: 'resp_x' } })
  socket.send(steer(10))
  const [short] = (await once(socket, 'message')) as [Buffer]
  expect(JSON.parse(short.toString())).toMatchObject({ steer: { input: 'xxxxxxxxxx' } })
})

it('takes no more messages of a client that does not read, and closes its connection after the stall time', async () => {
  const { socket, network } = await open()
  network.write(Buffer.concat(Array.from({ length: 60_000 }, () => EMPTY_OBJECT)))
  const refused = () => api.events.filter(({ route, outcome }) => route === 'connectResponses' && outcome === 'refused').length
  await expect.poll(refused, { timeout: 10_000 }).toBeGreaterThan(1_000)
  let before = -1
  const isBlocked = (): boolean => before === (before = refused())
  await expect.poll(isBlocked, { timeout: 60_000, interval: 300 }).toBe(true)
  for (let at = 0; at < 3; at++) socket.send(steer(9_000_000))
  const unsent: number[] = []
  const isOpen = (): boolean => {
    if (api.openSockets() > 0) unsent.push(network.writableLength)
    return api.openSockets() > 0
  }
  await expect.poll(isOpen, { timeout: 10 * STALL_MS, interval: 100 }).toBe(false)
  // The server read none of them.
  expect(Math.min(...unsent)).toBeGreaterThan(20_000_000)
  expect(refused()).toBeLessThan(40_000)
  network.resume()
  await expect.poll(() => socket.readyState, { timeout: 10_000 }).toBe(WebSocket.CLOSED)
}, 120_000)

it('counts a message that it refuses as a request, in the rate limit and in the audit', async () => {
  const tenant = newId('tenant')
  const policy = { limits: { requestsPerSecond: 5 } }
  await api.table.tenants.create({ v: 1, id: tenant, name: tenant, createdAt: Date.now(), policy })
  const key = await api.newKey({ tenant })
  const { socket } = await open({ isReading: true, key })
  const codes: string[] = []
  socket.on('message', (data: Buffer) => codes.push((JSON.parse(data.toString()) as { error: { code: string } }).error.code))
  for (let at = 0; at < 40; at++) socket.send('{}')
  await expect.poll(() => codes.length, { timeout: 10_000 }).toBe(40)
  expect(codes).toContain('rate_limit_exceeded')
  const audited = async () => (await api.table.audit.recent(tenant, 100)).filter(({ action }) => action === 'connectResponses')
  await expect.poll(audited, { timeout: 10_000 }).toHaveLength(40)
})

it('counts a message while it arrives, and closes a connection above the share of its tenant', async () => {
  const small = await startApi({ config: { maxRequestBytesInFlight: 4 * MiB } })
  const socket = new WebSocket(`${small.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${small.owner.key}` },
  })
  await once(socket, 'open')
  const held = await openPartial(small)
  socket.send(steer(3 * MiB))
  const [code] = (await once(socket, 'close')) as [number]
  expect(code).toBe(1013)
  held.terminate()
  await small.stop()
})

/** A connection that has sent a part of a message. */
async function openPartial(target: TestApi): Promise<WebSocket> {
  const socket = new WebSocket(`${target.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${target.owner.key}` },
  })
  await once(socket, 'open')
  socket.send('x'.repeat(100_000), { fin: false })
  return socket
}

it('reads messages that arrive at once one by one, and serves another client meanwhile', async () => {
  const before = heldBytes()
  // 64 KiB hold 8,000 messages. A server that reads all that has arrived makes them before it serves another connection.
  const flood = await Promise.all(Array.from({ length: 20 }, () => open({ isReading: true })))
  const bytes = Buffer.concat(Array.from({ length: 50_000 }, () => EMPTY_OBJECT))
  let answers = 0
  for (const { socket, network } of flood) {
    socket.on('message', () => answers++)
    network.write(bytes)
  }
  await expect.poll(() => answers).toBeGreaterThan(0)
  const atFirst = answers
  expect((await api.fetch('/v1/limits', { key: api.otherTenant })).status).toBe(200)
  expect(answers - atFirst).toBeLessThan(5_000)
  expect((heldBytes() - before) / MiB).toBeLessThan(64)
})
