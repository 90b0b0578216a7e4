import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { WebhookMessage } from '../../../services/model/messages.ts'
import type { WebhookEvent } from '../../../services/model/webhooks/webhook.ts'
import { createDeliveriesStep } from '../../../services/workers/deliver/delivery-step.ts'
import { publishEvent } from '../../../services/operations/webhooks/publish-event.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const HOST = '127.0.0.1'
let api: TestApi
let receiver: Server
let url: string
let received: Received[] = []
let statuses: number[] = []
/** Each test has a tenant, because endpoints are cached for five seconds. */
let key: TestKey
let client: OpenAI
let sent: WebhookMessage[] = []

beforeAll(async () => {
  api = await startApi({ config: { webhookHosts: [HOST] } })
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') })
      const status = statuses.shift() ?? 204
      response.writeHead(status, status === 302 ? { location: `${url}/elsewhere` } : {}).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, HOST, resolve))
  url = `http://${HOST}:${(receiver.address() as AddressInfo).port}/hooks`
})
afterAll(async () => {
  receiver.close()
  await api.stop()
})
beforeEach(async () => {
  key = await api.newKey()
  client = api.openai(key)
  api.skew = 0
  received = []
  statuses = []
  sent = []
})

const clock = { now: () => api.now() }
const queue = { send: async (_: string, message: unknown) => void sent.push(message as WebhookMessage), check: async () => undefined }

/** Publishes an event and returns the function that handles the message which was sent last, as the worker of the queue does. */
async function publish(change: Partial<WebhookEvent> = {}): Promise<() => Promise<void>> {
  const objectId = newId('response')
  const event = { tenant: key.tenant, subject: null, type: 'response.completed', objectId, at: api.now(), data: { id: objectId } } as const
  const ports = { table: api.table, queue, clock }
  await publishEvent(ports, { ...event, ...change })
  await publishEvent(ports, { ...event, ...change })
  const deliver = createDeliveriesStep({ ...ports, telemetry: silentTelemetry, workerId: newId('worker'), webhookHosts: [HOST] })
  return async () => {
    const message = sent.at(-1)
    if (message !== undefined) await deliver(message)
  }
}

const create = (target = url) =>
  client.webhooks.create({ name: 'hook', url: target, event_types: ['response.completed', 'response.failed'] })
const deliveries = async (id: string): Promise<readonly Record<string, unknown>[]> =>
  ((await (await api.fetch(`/v1/webhook_endpoints/${id}/deliveries`, { key })).json()) as { data: Record<string, unknown>[] }).data
const unwrap = ({ body, headers }: Received, secret: string) =>
  client.webhooks.unwrap(body, new Headers(headers as Record<string, string>), secret)

it('is managed with the official SDK', async () => {
  const made = await create()
  expect(made).toMatchObject({ object: 'webhook_endpoint', name: 'hook', url, event_types: ['response.completed', 'response.failed'] })
  expect(made.signing_secret_hint).toBe(`whsec_…${made.signing_secret.slice(-4)}`)
  expect((await client.webhooks.update(made.id, { name: 'other' })).name).toBe('other')
  const listed = (await client.webhooks.list()).data
  expect(listed.map(({ id }) => id)).toEqual([made.id])
  expect(listed[0]).not.toHaveProperty('signing_secret')
  expect((await client.webhooks.retrieve(made.id)).url).toBe(url)
  expect((await client.webhooks.eventTypes.list()).data).toContain('container.expired')
  expect(await client.webhooks.delete(made.id)).toMatchObject({ deleted: true })
  await expect(client.webhooks.retrieve(made.id)).rejects.toMatchObject({ status: 404, code: 'webhook_endpoint_not_found' })
})

it('delivers a published event once, with a signature that the SDK verifies', async () => {
  const { id, signing_secret: secret } = await create()
  const deliver = await publish()
  expect(sent).toHaveLength(1)
  await deliver()
  await deliver()
  expect(received).toHaveLength(1)
  const event = await unwrap(received[0] as Received, secret)
  expect(event).toMatchObject({ object: 'event', type: 'response.completed', id: received[0]?.headers['webhook-id'] })
  await expect(unwrap({ ...(received[0] as Received), body: '{}' }, secret)).rejects.toThrow()
  expect(await deliveries(id)).toMatchObject([{ status: 'delivered', attempts: 1, last_status_code: 204 }])
})

it('writes one row and one message for an event of two endpoints, and from them one delivery for each', async () => {
  const [one, two] = [await create(), await create()]
  const objectId = newId('response')
  const event = { objectId, at: api.now(), data: { id: objectId } }
  const deliver = await publish(event)
  expect(sent).toHaveLength(1)
  expect(await deliveries(one.id)).toEqual([])
  await deliver()
  expect(sent).toHaveLength(2)
  await deliver()
  expect(received.map(({ headers }) => headers['webhook-id'])).toEqual(Array(2).fill(received[0]?.headers['webhook-id']))
  for (const { id } of [one, two]) expect(await deliveries(id)).toMatchObject([{ status: 'delivered', attempts: 1 }])
  await publish(event)
  expect(sent).toHaveLength(2)
})

it('does not repeat the delivery of an event that is published again for one more endpoint', async () => {
  const first = await create()
  const objectId = newId('response')
  const event = { objectId, at: api.now(), data: { id: objectId } }
  await (
    await publish(event)
  )()
  const second = await create()
  api.skew = 6_000
  const deliver = await publish(event)
  await deliver()
  await deliver()
  expect(received).toHaveLength(2)
  for (const { id } of [first, second]) expect(await deliveries(id)).toMatchObject([{ status: 'delivered', attempts: 1 }])
})

it('signs with both secrets for 24 hours after a rotation that keeps the old one', async () => {
  const { id, signing_secret: old } = await create()
  const { signing_secret: fresh } = await client.webhooks.rotateSecret(id, { keep_old_secret_active_for_24_hours: true })
  await (
    await publish()
  )()
  await unwrap(received[0] as Received, old)
  await unwrap(received[0] as Received, fresh)
  api.skew = 86_400_001
  await (
    await publish()
  )()
  const late = received[1] as Received
  await client.webhooks.unwrap(late.body, new Headers(late.headers as Record<string, string>), fresh, 100_000)
  await expect(client.webhooks.unwrap(late.body, new Headers(late.headers as Record<string, string>), old, 100_000)).rejects.toThrow()
})

it('repeats a failed delivery with longer pauses for 24 hours, then shows it as dead', async () => {
  const { id, signing_secret: secret } = await create()
  statuses = [500, 302, ...Array.from({ length: 20 }, () => 503)]
  const deliver = await publish()
  const startedAt = api.now()
  for (let attempt = 1; attempt <= 9; attempt++) {
    await deliver()
    const [row] = await deliveries(id)
    expect(row).toMatchObject({ attempts: attempt, status: attempt === 9 ? 'dead' : 'pending' })
    // A message that comes early sends nothing.
    await deliver()
    expect(received).toHaveLength(attempt)
    if (row?.['next_attempt_at'] !== null) api.skew = (Number(row?.['next_attempt_at']) + 1) * 1000 - Date.now()
  }
  const hours = (api.now() - startedAt) / 3_600_000
  expect(hours).toBeGreaterThan(21)
  expect(hours).toBeLessThanOrEqual(24.1)
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(await unwrap(received[0] as Received, secret)).toMatchObject({ type: 'response.completed' })
  const dead = await api.fetch(`/v1/webhook_endpoints/${id}/deliveries?status=dead`, { key })
  expect(await dead.json()).toMatchObject({ data: [{ status: 'dead', last_error: 'The endpoint answered with status 503.' }] })
})

it('ends deliveries to an endpoint that is gone or was deleted', async () => {
  const { id } = await create()
  statuses = [410]
  await (
    await publish()
  )()
  expect(await deliveries(id)).toMatchObject([{ status: 'dead', last_status_code: 410 }])
  const deliver = await publish()
  await client.webhooks.delete(id)
  // Endpoints are cached for five seconds.
  api.skew = 6_000
  await deliver()
  expect(received).toHaveLength(1)
  expect((await api.table.deliveries.listByEndpoint(key.tenant, id, { after: null, limit: 1, order: 'desc' })).rows).toMatchObject([
    { status: 'dead', lastError: 'The endpoint was deleted.' },
  ])
})

it('sends a sample event and reports the status of the endpoint', async () => {
  const { id, signing_secret: secret } = await create()
  statuses = [418]
  expect(await client.webhooks.test(id, { event_type: 'response.failed' })).toMatchObject({ status_code: 418, success: true })
  expect(await unwrap(received[0] as Received, secret)).toMatchObject({ type: 'response.failed' })
})

it.for([
  ['http://example.com/', 'must begin with https://'],
  ['https://10.0.0.1/', 'must have a public address'],
  ['https://[::1]/', 'must have a public address'],
  ['https://[::ffff:169.254.169.254]/', 'must have a public address'],
  ['https://0xa9fea9fe/', 'must have a public address'],
  ['https://user:word@example.com/', 'must not contain a user name'],
  ['ftp://example.com/', 'must begin with https://'],
])('refuses the address %s', async ([target = '', why = '']) => {
  await expect(create(target)).rejects.toMatchObject({ status: 400, param: 'url', message: expect.stringContaining(why) as string })
})

it('does not connect to a name that has a private address', async () => {
  const { id } = await create('https://localhost:1/')
  await expect(client.webhooks.test(id, { event_type: 'response.completed' })).rejects.toMatchObject({
    status: 400,
    code: 'webhook_unreachable',
    message: expect.stringContaining('The address of localhost is not public') as string,
  })
})

it('sends an end user the events of that user only', async () => {
  key = await api.newKey({ tenant: key.tenant, subject: 'ann' })
  client = api.openai(key)
  await create()
  await (
    await publish({ subject: 'bob' })
  )()
  await (
    await publish({ subject: 'ann' })
  )()
  expect(received).toHaveLength(1)
})

it('refuses more endpoints than the maximum, and creates one per idempotency key', async () => {
  const headers = { 'idempotency-key': 'one' }
  const twice = await Promise.all(
    [1, 2].map(() => client.webhooks.create({ name: 'x', url, event_types: ['response.completed'] }, { headers })),
  )
  expect(twice[0]?.id).toBe(twice[1]?.id)
  for (let n = 1; n < 20; n++) await create()
  await expect(create()).rejects.toMatchObject({ status: 400, code: 'limit_exceeded' })
})
