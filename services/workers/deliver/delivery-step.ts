import pLimit from 'p-limit'
import type { WebhookMessage } from '../../model/messages.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import { DELIVERY_KEPT_MS, fannedOut, nextAttemptAt, webhookBody, type Delivery } from '../../model/webhooks/webhook.ts'
import { acquireLease } from '../../jobs/lease.ts'
import { findEndpoint } from '../../operations/webhooks/endpoints.ts'
import { notifyDeliveries } from '../../operations/webhooks/publish-event.ts'
import { sendWebhook, type SendResult } from '../../operations/webhooks/send-webhook.ts'
import { PROBE_EVERY_MS, SilentEndpoints } from './silent-endpoints.ts'

/** Queues delay a message by at most this; the reconciler sends later ones, seconds. */
const MAX_DELAY_SECONDS = 900
const GONE = 410
const NOT_SENT = `This attempt was not sent: the endpoint did not answer three times in a row, so it gets one attempt in ${PROBE_EVERY_MS / 1000} s.`

export interface DeliveryDeps {
  readonly table: Table
  readonly queue: Queue
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly workerId: string
  /** Host names to which deliveries may go without TLS and at any address. */
  readonly webhookHosts: readonly string[]
  /** How long an endpoint has for its answer, milliseconds; ten seconds except in tests. */
  readonly timeoutMs?: number
}

interface StepDeps extends DeliveryDeps {
  readonly silent: SilentEndpoints
}

/** Deliveries of one tenant that a process sends at once. */
export const DELIVERIES_AT_ONCE = 2

/** Steps of a delivery: each acquires the lease, sends the event once, and commits what came of it. */
export function createDeliveryStep(
  deps: DeliveryDeps,
): (delivery: { readonly tenant: string; readonly id: string }, onSent?: () => void) => Promise<void> {
  const step: StepDeps = { ...deps, silent: new SilentEndpoints() }
  return (delivery, onSent = () => undefined) => attempt(step, delivery, onSent)
}

/** The steps of a message's deliveries, for a process that serves one message at a time. Throws when one of them failed, after all have ended. */
export function createDeliveriesStep(deps: DeliveryDeps): (message: WebhookMessage) => Promise<void> {
  const deliver = createDeliveryStep(deps)
  return async ({ tenant, deliveries }) => {
    const places = pLimit(DELIVERIES_AT_ONCE)
    const results = await Promise.allSettled(deliveries.map(({ id }) => places(() => deliver({ tenant, id }))))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }
}

async function attempt(
  deps: StepDeps,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  onSent: () => void,
): Promise<void> {
  const { deliveries } = deps.table
  const acquired = await acquireLease(deps, deliveries, { tenant, id })
  if (acquired.kind !== 'acquired') return
  const { row } = acquired
  // A duplicate message must not make the next attempt earlier.
  if (row.nextAttemptAt > deps.clock.now()) {
    await deliveries.commit({ tenant, id, fence: row.fence }, {}, { release: true, dueAt: row.nextAttemptAt })
    return
  }
  if (row.fanOut !== null) return fanOut(deps, row)
  const result = await request(deps, row)
  onSent()
  if (result === null) await end(deps, row, { status: 'dead', lastError: 'The endpoint was deleted.' })
  else await record(deps, row, result)
}

/** Writes the deliveries of an event and sends a message for them. A repetition finds the rows, which are due if the message was lost. */
async function fanOut({ table: { deliveries }, queue, clock }: StepDeps, row: Delivery): Promise<void> {
  const places = pLimit(DELIVERIES_AT_ONCE)
  const now = clock.now()
  const rows = fannedOut(row, { now, dueAt: now + RECONCILE_AFTER_MS })
  const areNew = await Promise.all(rows.map((delivery) => places(() => deliveries.create(delivery))))
  const created = rows.filter((_, index) => areNew[index])
  if (created.length > 0) await notifyDeliveries(queue, { tenant: row.tenant, deliveries: created })
  // It is kept as long as its deliveries, so that a repetition of the event finds it.
  await deliveries.commit(row, { status: 'delivered', endedAt: now }, { removeAt: now + DELIVERY_KEPT_MS })
}

type AttemptResult = SendResult | { readonly kind: 'silent'; readonly reason: string }

/**
 * Sends the event; null when the endpoint was deleted. The attempt fails without a request while the endpoint is silent and its probe of this interval
 * was sent.
 */
async function request(deps: StepDeps, row: Delivery): Promise<AttemptResult | null> {
  const { clock, silent, webhookHosts: allowedHosts, timeoutMs } = deps
  if (!silent.admits(row.endpointId, clock.now())) return { kind: 'silent', reason: NOT_SENT }
  const endpoint = await findEndpoint(deps, row.tenant, row.endpointId)
  if (endpoint === null) return null
  const event = { id: row.eventId, body: webhookBody(row) }
  const result = await sendWebhook(endpoint, event, { now: clock.now(), allowedHosts, ...(timeoutMs !== undefined && { timeoutMs }) })
  silent.record(endpoint.id, { isTimeout: result.kind === 'failed' && result.isTimeout, now: clock.now() })
  return result
}

async function record(deps: StepDeps, row: Delivery, result: AttemptResult): Promise<void> {
  const attempts = row.attempts + 1
  const lastStatusCode = result.kind === 'answered' ? result.status : null
  if (lastStatusCode !== null && lastStatusCode >= 200 && lastStatusCode < 300)
    return end(deps, row, { status: 'delivered', attempts, lastStatusCode, lastError: null })
  const now = deps.clock.now()
  const lastError = result.kind === 'answered' ? `The endpoint answered with status ${result.status}.` : result.reason
  const nextAt = lastStatusCode === GONE ? null : nextAttemptAt(attempts, now)
  if (nextAt === null) return end(deps, row, { status: 'dead', attempts, lastStatusCode, lastError })
  const { tenant, id, fence } = row
  const patch = { attempts, lastStatusCode, lastError, nextAttemptAt: nextAt }
  const released = await deps.table.deliveries.commit({ tenant, id, fence }, patch, { release: true, dueAt: nextAt })
  report(deps, row, { outcome: 'retry', attempts, status: lastStatusCode })
  const seconds = Math.ceil((nextAt - now) / 1000)
  // The reconciler sends what is due at a silent endpoint: such a tenant adds no messages to the queue that it shares with others.
  if (released !== null && result.kind !== 'silent' && seconds <= MAX_DELAY_SECONDS)
    await notifyDeliveries(deps.queue, { tenant, deliveries: [row] }, seconds)
}

type End = Pick<Delivery, 'status' | 'lastError'> & Partial<Pick<Delivery, 'attempts' | 'lastStatusCode'>>

async function end(deps: DeliveryDeps, row: Delivery, change: End): Promise<void> {
  const now = deps.clock.now()
  const { tenant, id, fence } = row
  await deps.table.deliveries.commit({ tenant, id, fence }, { ...change, endedAt: now }, { removeAt: now + DELIVERY_KEPT_MS })
  const { status: outcome, attempts = row.attempts, lastStatusCode: status = null } = change
  report(deps, row, { outcome, attempts, status })
}

function report(
  { telemetry }: DeliveryDeps,
  { tenant, id, endpointId, eventType }: Delivery,
  result: { readonly outcome: string; readonly attempts: number; readonly status: number | null },
): void {
  telemetry.emit({ event: 'webhook', tenant, delivery: id, endpoint: endpointId, type: eventType, ...result })
}
