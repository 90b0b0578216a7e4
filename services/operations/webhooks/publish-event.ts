import type { Container } from '../../model/containers/container.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import { currentTraceparent } from '../../model/trace.ts'
import {
  newDelivery,
  newFanOut,
  WEBHOOK_EVENT_TYPES,
  type Delivery,
  type WebhookEvent,
  type WebhookEventType,
} from '../../model/webhooks/webhook.ts'
import { cachedEndpoints } from './endpoints.ts'

export interface PublishPorts {
  readonly table: Pick<Table, 'sharedRows' | 'deliveries'>
  readonly queue: Queue
  readonly clock: Clock
}

/** Whether an endpoint of the tenant receives events of one of these types. Cached for up to five seconds. */
export async function hasSubscribers(ports: Pick<PublishPorts, 'table' | 'clock'>, tenant: string, prefix: string): Promise<boolean> {
  return (await cachedEndpoints(ports, tenant)).some(({ eventTypes }) => eventTypes.some((type) => type.startsWith(prefix)))
}

/**
 * Writes one row and sends one message: the delivery to the only endpoint that receives the event, or a row from which a worker writes the deliveries. A
 * tenant with many endpoints thereby delays no caller and no other tenant; its deliveries are written within its share. A repetition changes nothing.
 */
export async function publishEvent(ports: PublishPorts, event: WebhookEvent): Promise<void> {
  const { table, queue, clock } = ports
  const endpoints = (await cachedEndpoints(ports, event.tenant)).filter(
    ({ eventTypes, subject }) => eventTypes.includes(event.type) && (subject === null || subject === event.subject),
  )
  const now = clock.now()
  const options = { now, dueAt: now + RECONCILE_AFTER_MS, traceparent: currentTraceparent() }
  const [first, ...others] = endpoints.map(({ id }) => id)
  if (first === undefined) return
  const row = others.length === 0 ? newDelivery(event, first, options) : newFanOut(event, [first, ...others], options)
  if (await table.deliveries.create(row)) await notifyDeliveries(queue, { tenant: event.tenant, deliveries: [row] })
}

/** Enqueues the next attempt of deliveries of one tenant. If sending fails, the reconciler sends the messages later. */
export async function notifyDeliveries(
  queue: Queue,
  { tenant, deliveries }: { readonly tenant: string; readonly deliveries: readonly Pick<Delivery, 'id' | 'endpointId'>[] },
  delaySeconds = 0,
): Promise<void> {
  const named = deliveries.map(({ id, endpointId }) => ({ id, endpointId }))
  const message = { v: 1 as const, type: 'webhook.deliver' as const, tenant, deliveries: named }
  await queue.send('turns', message, { group: tenant, delaySeconds }).catch(() => undefined)
}

const isEventType = (type: string): type is WebhookEventType => (WEBHOOK_EVENT_TYPES as readonly string[]).includes(type)

/** An ended execution or command. */
export async function publishExecutionEnd(ports: PublishPorts, row: Execution): Promise<void> {
  const type = `execution.${row.status}`
  if (!isEventType(type)) return
  const { tenant, subject, id, containerId, status, reason } = row
  const data = { id, container_id: containerId, status, reason }
  await publishEvent(ports, { tenant, subject, type, objectId: id, at: row.endedAt ?? row.createdAt, data })
}

/** An ended response, unless it is only the summary of a conversation. OpenAI's events contain its id only. */
export async function publishResponseEnd(ports: PublishPorts, row: ResponseRecord): Promise<void> {
  const type = `response.${row.status}`
  if (!isEventType(type) || row.request.purpose === 'compaction') return
  const { tenant, subject, id } = row
  await publishEvent(ports, { tenant, subject, type, objectId: id, at: row.completedAt ?? row.createdAt, data: { id } })
}

/** A container that is idle since `lastActiveAt`, past its own idle time. */
export async function publishContainerExpiry(
  ports: PublishPorts,
  { tenant, subject, id, name, lastActiveAt, expiresAfterMinutes }: Container,
): Promise<void> {
  const at = lastActiveAt + expiresAfterMinutes * 60_000
  await publishEvent(ports, { tenant, subject, type: 'container.expired', objectId: id, at, data: { id, name } })
}
