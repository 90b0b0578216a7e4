import { createHash, randomBytes } from 'node:crypto'
import { derivedId } from '../ids.ts'
import type { LeasedRow } from '../lease.ts'
import { LIMITS } from '../limits.ts'

/** What an endpoint can receive. Those of responses are OpenAI's. */
export const WEBHOOK_EVENT_TYPES = [
  'response.completed',
  'response.failed',
  'response.cancelled',
  'response.incomplete',
  'execution.succeeded',
  'execution.failed',
  'execution.timed_out',
  'execution.cancelled',
  'container.expired',
] as const
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number]

/** An address of a tenant that receives events. Times are epoch ms. */
export interface WebhookEndpoint {
  readonly id: string
  /** An endpoint of an end user receives the events of that user's objects only. */
  readonly subject: string | null
  readonly name: string
  readonly url: string
  readonly eventTypes: readonly WebhookEventType[]
  /** `whsec_` and base64, as in the Standard Webhooks specification. */
  readonly secret: string
  /** The secret before the last rotation, which still signs until `until`. */
  readonly formerSecret: { readonly secret: string; readonly until: number } | null
  readonly createdAt: number
  readonly updatedAt: number
}

export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Secrets that sign a delivery at `now`. */
export const secretsOf = ({ secret, formerSecret }: WebhookEndpoint, now: number): readonly string[] =>
  formerSecret !== null && formerSecret.until > now ? [secret, formerSecret.secret] : [secret]

/** What happened: `objectId` reached a state at `at`. The same three values are the same event, however often it is published. */
export interface WebhookEvent {
  readonly tenant: string
  readonly subject: string | null
  readonly type: WebhookEventType
  readonly objectId: string
  /** Epoch ms. */
  readonly at: number
  /** Ids and statuses for the receiver, never content. */
  readonly data: Readonly<Record<string, string | null>>
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** One event for one endpoint. Workers advance the row under a lease until the endpoint accepted the event or the retries are over. */
export interface Delivery extends LeasedRow {
  readonly v: 1
  /** The id of the event in a row with `fanOut`. */
  readonly endpointId: string
  /** In the row that stands for the deliveries of an event until a worker has written them; null in a delivery. */
  readonly fanOut: { readonly seed: string; readonly endpointIds: readonly string[] } | null
  readonly eventId: string
  readonly eventType: WebhookEventType
  readonly eventAt: number
  readonly data: Readonly<Record<string, string | null>>
  readonly status: DeliveryStatus
  /** Attempts that failed or succeeded. */
  readonly attempts: number
  /** HTTP status of the last answer; null without one. */
  readonly lastStatusCode: number | null
  readonly lastError: string | null
  readonly nextAttemptAt: number
  readonly createdAt: number
  readonly endedAt: number | null
  readonly traceparent: string | null
  readonly cancelRequestedAt: number | null
  readonly stepsFailSince: number | null
}

interface DeliveryTimes {
  readonly now: number
  readonly dueAt: number
  readonly traceparent: string | null
}

const seedOf = ({ tenant, type, objectId, at }: WebhookEvent): string =>
  createHash('sha256').update(`${tenant} ${type} ${objectId} ${at}`).digest('hex')
const deliveryId = (at: number, seed: string, endpointId: string): string => derivedId('delivery', at, `${seed} ${endpointId}`)

/** The id is derived, so an event that is published twice is delivered once per endpoint. */
export function newDelivery(event: WebhookEvent, endpointId: string, options: DeliveryTimes): Delivery {
  const seed = seedOf(event)
  return {
    v: 1,
    tenant: event.tenant,
    id: deliveryId(event.at, seed, endpointId),
    endpointId,
    fanOut: null,
    eventId: derivedId('event', event.at, seed),
    eventType: event.type,
    eventAt: event.at,
    data: event.data,
    status: 'pending',
    attempts: 0,
    lastStatusCode: null,
    lastError: null,
    nextAttemptAt: options.now,
    createdAt: options.now,
    endedAt: null,
    traceparent: options.traceparent,
    cancelRequestedAt: null,
    stepsFailSince: null,
    lease: null,
    fence: 0,
    dueAt: options.dueAt,
  }
}

/** The row of an event for several endpoints: whatever their number, the end of a response or an execution writes one row. */
export function newFanOut(event: WebhookEvent, endpointIds: readonly string[], options: DeliveryTimes): Delivery {
  const seed = seedOf(event)
  const eventId = derivedId('event', event.at, seed)
  return { ...newDelivery(event, eventId, options), fanOut: { seed, endpointIds } }
}

/** The deliveries for which a row with `fanOut` stands. */
export const fannedOut = (row: Delivery, { now, dueAt }: Omit<DeliveryTimes, 'traceparent'>): readonly Delivery[] =>
  (row.fanOut?.endpointIds ?? []).map((endpointId) => ({
    ...row,
    id: deliveryId(row.eventAt, row.fanOut?.seed ?? '', endpointId),
    endpointId,
    fanOut: null,
    nextAttemptAt: now,
    createdAt: now,
    lease: null,
    fence: 0,
    dueAt,
  }))

/** Seconds between attempts: nine attempts in 24 hours. */
const RETRY_SECONDS = [5, 60, 300, 1_800, 7_200, 18_000, 28_800, 30_235] as const
/** Attempts are up to this share earlier, so that a recovering endpoint does not receive all deliveries at the same time. */
const JITTER = 0.1

/** When to try again after the attempt with this number (from 1) failed at `now`, epoch ms; null when the retries are over. */
export function nextAttemptAt(attempts: number, now: number, random: () => number = Math.random): number | null {
  const seconds = RETRY_SECONDS[attempts - 1]
  return seconds === undefined ? null : now + Math.round(seconds * 1000 * (1 - JITTER * random()))
}

/** An ended delivery is kept this long, milliseconds. */
export const DELIVERY_KEPT_MS = LIMITS.deliveryDays * 86_400_000

/** The body as it is signed and sent. OpenAI's form of an event. */
export const webhookBody = ({ eventId, eventType, eventAt, data }: Pick<Delivery, 'eventId' | 'eventType' | 'eventAt' | 'data'>): string =>
  JSON.stringify({ id: eventId, object: 'event', created_at: Math.floor(eventAt / 1000), type: eventType, data })
