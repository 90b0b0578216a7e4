import { PassThrough, type Duplex } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Gateway } from '../../../services/workers/gateway/gateway.ts'
import { CertificateIssuer, createAuthority } from '../../../services/workers/gateway/certificates.ts'
import { Turns } from '../../../services/workers/gateway/turns.ts'
import { TenantBudget } from '../../../services/workers/gateway/tenant-budget.ts'
import { startMirror, type Mirror } from '../../support/mirror.ts'
import { ATTACHMENT, readAll, startProxy, type TestProxy } from '../../support/start-proxy.ts'

const API = 'api.example.com'
/** Requests that reached the host. `/silent` gets no answer. */
const received: string[] = []
let mirror: Mirror

beforeAll(async () => {
  mirror = await startMirror([API], ({ url = '' }, response) => {
    received.push(url)
    if (url !== '/silent') response.end('answer')
  })
})
afterAll(() => mirror[Symbol.asyncDispose]())

const open = (limits: { readonly connections: number; readonly requestsPerSecond: number }): Promise<TestProxy> =>
  startProxy({ rules: [{ host: API }], limits }, { privateHosts: { [API]: { address: '127.0.0.1', port: mirror.port } } })
const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: ${API}\r\n\r\n`

it('ends a connection whose client sends requests without waiting for answers', async () => {
  await using proxy = await open({ connections: 50, requestsPerSecond: 1_000 })
  received.length = 0
  const tunnel = await proxy.tunnel(`${API}:443`)
  tunnel.write(request('/silent').repeat(100))
  await expect.poll(() => tunnel.closed || received.length > 4).toBe(true)
  expect(received.length).toBeLessThanOrEqual(4)
})

it('refuses requests that run at the same time beyond the limit, also on one connection', async () => {
  await using proxy = await open({ connections: 2, requestsPerSecond: 1_000 })
  received.length = 0
  const tunnel = await proxy.tunnel(`${API}:443`)
  tunnel.write(request('/silent') + request('/silent') + request('/silent'))
  await expect.poll(() => received).toEqual(['/silent', '/silent'])
  tunnel.destroy()
  await expect
    .poll(() => proxy.reports.toSorted((one, other) => Number(one.status) - Number(other.status)))
    .toMatchObject([
      { status: null },
      { status: null },
      { status: 503, reason: expect.stringContaining('2 network requests running') as string },
    ])
  expect(received).toEqual(['/silent', '/silent'])
  // What ended is free again.
  await expect.poll(async () => (await proxy.fetch(API)).status).toBe(200)
})

it('accepts connections of a tenant no faster than its requests', async () => {
  let accepted = 0
  const issuer = new CertificateIssuer(await createAuthority(Date.now()))
  const gateway = new Gateway({
    issuer,
    upstream: { extraCa: [], privateHosts: {} },
    report: () => undefined,
    now: Date.now,
    onGone: () => undefined,
    supervisor: {
      // Code connects and closes as fast as it can.
      acceptConnection: async (): Promise<Duplex> => {
        accepted += 1
        return new PassThrough().end()
      },
    },
  })
  const limits = { connections: 100, requestsPerSecond: 10 }
  for (const containerId of ['cntr_a', 'cntr_b', 'cntr_c']) gateway.attach({ ...ATTACHMENT, containerId, limits })
  const start = Date.now()
  await expect.poll(() => Date.now() - start, { timeout: 5_000 }).toBeGreaterThan(1_500)
  gateway.close()
  // Two seconds at once, the rate since then, and one connection for each that waits.
  expect(accepted).toBeGreaterThan(20)
  expect(accepted).toBeLessThan(20 + 10 * ((Date.now() - start) / 1_000 + 1) + 12)
})

it('a client that breaks the protocol waits for its next connections', () => {
  const budget = new TenantBudget({ connections: 10, requestsPerSecond: 10 }, () => 0)
  expect(budget.accepted()).toBe(0)
  budget.penalize()
  expect(budget.accepted()).toBeGreaterThan(3_000)
})

it('makes a new certificate for a tenant at a rate, and one that it has made at once', async () => {
  await using proxy = await startProxy({ rules: [{ host: '*' }], limits: { connections: 50, requestsPerSecond: 1_000 } })
  const open = async (count: number): Promise<number> => {
    const start = Date.now()
    await Promise.all(Array.from({ length: count }, (_, at) => proxy.tunnel(`n${at}.example.com:443`)))
    return Date.now() - start
  }
  // Twenty at once, then ten per second.
  const [first, again] = [await open(35), await open(10)]
  expect(first).toBeGreaterThan(1_400)
  expect(again).toBeLessThan(1_400)
})

it('does the work of tenants in turn, and everything else of the process in between', async () => {
  const turns = new Turns()
  const done: string[] = []
  for (let n = 0; n < 5; n++) turns.take('flood', () => done.push('flood'))
  turns.take('other', () => {
    done.push('other')
    setImmediate(() => done.push('loop'))
  })
  await expect.poll(() => done.length).toBe(7)
  expect(done.slice(0, 4)).toEqual(['flood', 'other', 'loop', 'flood'])
})

it('a connection that sends nothing whole gets no answer and holds nothing else', async () => {
  await using proxy = await open({ connections: 1, requestsPerSecond: 10 })
  const socket = await proxy.open()
  socket.end('GET http://x')
  expect(await readAll(socket)).toBe('')
})
