import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { MemoryQueue } from '../../../services/adapters/storage/memory-queue/memory-queue.ts'
import { turnsStep } from '../../../services/entries/local/workers.ts'
import { newId } from '../../../services/model/ids.ts'
import type { QueueMessages } from '../../../services/model/messages.ts'
import { publishEvent } from '../../../services/operations/webhooks/publish-event.ts'
import { DeliveryLanes } from '../../../services/workers/deliver/delivery-lanes.ts'
import { createDeliveriesStep, createDeliveryStep, type DeliveryDeps } from '../../../services/workers/deliver/delivery-step.ts'
import { PROBE_EVERY_MS } from '../../../services/workers/deliver/silent-endpoints.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const HOST = '127.0.0.1'
const ENDPOINTS = 20
const EVENTS = 25

let api: TestApi
let silent: Server
let lively: Server
/** Paths whose request is open at the silent server, and the largest number of them. */
let open: string[] = []
let most = 0
let mostOfOne = 0
let arrived = 0
let heard: string[] = []
let queue: MemoryQueue
let stop: AbortController
let lanes: DeliveryLanes | null = null

const listen = async (server: Server): Promise<void> => {
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
}
const urlOf = (server: Server, path: string): string => `http://${HOST}:${(server.address() as AddressInfo).port}${path}`
const clock = { now: () => api.now() }

beforeAll(async () => {
  api = await startApi({ config: { webhookHosts: [HOST] } })
  silent = createServer((request, response) => {
    const path = request.url ?? ''
    open.push(path)
    arrived += 1
    most = Math.max(most, open.length)
    mostOfOne = Math.max(mostOfOne, open.filter((one) => one === path).length)
    response.once('close', () => open.splice(open.indexOf(path), 1))
  })
  lively = createServer((request, response) => {
    heard.push(request.url ?? '')
    response.writeHead(204).end()
  })
  await Promise.all([listen(silent), listen(lively)])
})
afterAll(async () => {
  silent.closeAllConnections()
  silent.close()
  lively.close()
  await api.stop()
})
beforeEach(() => {
  queue = new MemoryQueue()
  stop = new AbortController()
  api.skew = 0
  open = []
  heard = []
  most = mostOfOne = arrived = 0
})
afterEach(async () => {
  stop.abort()
  const stopped = lanes?.stop()
  silent.closeAllConnections()
  await stopped
})

const partsOf = (timeoutMs: number): DeliveryDeps => ({
  table: api.table,
  queue,
  clock,
  telemetry: silentTelemetry,
  workerId: newId('worker'),
  webhookHosts: [HOST],
  timeoutMs,
})

/** The deliveries of the server for one machine. */
function work(timeoutMs: number): void {
  const deliver = createDeliveryStep(partsOf(timeoutMs))
  const own = new DeliveryLanes({ deliver, onError: (error) => expect.unreachable(String(error)) })
  lanes = own
  const handler = turnsStep(async () => undefined, own)
  void queue.consume('turns', { handler, concurrency: 32, signal: stop.signal, onError: (error) => expect.unreachable(String(error)) })
}

const endpoint = (key: TestKey, url: string) => api.openai(key).webhooks.create({ name: 'hook', url, event_types: ['response.completed'] })

async function publish(tenant: string): Promise<void> {
  const id = newId('response')
  await publishEvent(
    { table: api.table, queue, clock },
    { tenant, subject: null, type: 'response.completed', objectId: id, at: api.now(), data: { id } },
  )
}

async function deliveriesOf(
  key: TestKey,
  id: string,
): Promise<readonly { readonly attempts: number; readonly last_error: string | null }[]> {
  const answer = await api.fetch(`/v1/webhook_endpoints/${id}/deliveries`, { key })
  return ((await answer.json()) as { data: { attempts: number; last_error: string | null }[] }).data
}

it('delivers the webhook of a tenant while 500 deliveries of another wait for 20 silent endpoints', async () => {
  const [hostile, other] = [await api.newKey(), await api.newKey()]
  for (let n = 0; n < ENDPOINTS; n++) await endpoint(hostile, urlOf(silent, `/${n}`))
  await endpoint(other, urlOf(lively, '/other'))
  work(3_000)
  for (let n = 0; n < EVENTS; n++) await publish(hostile.tenant)
  await expect.poll(() => arrived).toBeGreaterThan(0)
  await publish(other.tenant)
  await expect.poll(() => heard, { timeout: 2_500 }).toEqual(['/other'])
  await expect.poll(() => arrived, { timeout: 10_000 }).toBeGreaterThan(2)
  expect(most).toBe(2)
  expect(mostOfOne).toBe(1)
})

it('sends one attempt in a minute to an endpoint that did not answer three times in a row', async () => {
  const key = await api.newKey()
  const { id } = await endpoint(key, urlOf(silent, '/one'))
  work(50)
  for (let n = 0; n < 6; n++) await publish(key.tenant)
  await expect.poll(async () => (await deliveriesOf(key, id)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1, 1])
  expect(arrived).toBe(3)
  const errors = (await deliveriesOf(key, id)).map(({ last_error: error }) => error ?? '')
  expect(errors.filter((error) => error.startsWith('This attempt was not sent'))).toHaveLength(3)
  api.skew = PROBE_EVERY_MS + 1_000
  await publish(key.tenant)
  await publish(key.tenant)
  await expect.poll(async () => (await deliveriesOf(key, id)).filter(({ attempts }) => attempts > 0)).toHaveLength(8)
  expect(arrived).toBe(4)
})

it('sends one message for an event and one for its deliveries, two of which a function sends at once', async () => {
  const key = await api.newKey()
  for (let n = 0; n < ENDPOINTS; n++) await endpoint(key, urlOf(silent, `/${n}`))
  const deliver = createDeliveriesStep(partsOf(50))
  const served: Promise<void>[] = []
  let messages = 0
  const handler = async (message: QueueMessages['turns']): Promise<void> => {
    messages += 1
    if (message.type === 'webhook.deliver') served.push(deliver(message))
  }
  void queue.consume('turns', { handler, concurrency: 32, signal: stop.signal, onError: (error) => expect.unreachable(String(error)) })
  await publish(key.tenant)
  await expect.poll(() => arrived).toBe(ENDPOINTS)
  await Promise.all(served)
  expect(most).toBe(2)
  expect(messages).toBe(2)
})

it('sends the next request to an endpoint while the result of the last one is stored, within the places of the tenant', async () => {
  const started: string[] = []
  const stored = Promise.withResolvers<undefined>()
  const deliver = async ({ id }: { readonly id: string }, onSent: () => void): Promise<void> => {
    started.push(id)
    await Promise.resolve()
    onSent()
    await stored.promise
  }
  lanes = new DeliveryLanes({ deliver, onError: (error) => expect.unreachable(String(error)) })
  const deliveries = ['a', 'b', 'c'].map((id) => ({ id, endpointId: 'one' }))
  lanes.add({ v: 1, type: 'webhook.deliver', tenant: 'tnt_a', deliveries })
  expect(started).toEqual(['a'])
  await expect
    .poll(() => started)
    .toEqual(['a', 'b'])
    .finally(() => stored.resolve(undefined))
  await expect.poll(() => started).toEqual(['a', 'b', 'c'])
})

it('leaves the repetition at a silent endpoint to the reconciler', async () => {
  const key = await api.newKey()
  const { id } = await endpoint(key, urlOf(silent, '/one'))
  work(50)
  for (let n = 0; n < 8; n++) await publish(key.tenant)
  await expect.poll(async () => (await deliveriesOf(key, id)).filter(({ attempts }) => attempts > 0)).toHaveLength(8)
  // Three attempts were sent, and each of them was repeated by a message.
  await expect.poll(() => queue.counts('turns').delayed).toBe(3)
})
