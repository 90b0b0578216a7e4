import type { DueRow } from '../../ports/table.ts'
import { isLeased } from '../../model/lease.ts'
import { joinTrace } from '../../model/trace.ts'
import { notifyDeliveries } from '../../operations/webhooks/publish-event.ts'
import type { ReconcilerDeps } from '../deps.ts'

/** A delivery whose message is sent and not handled for this long gets another one, milliseconds. */
const AGAIN_MS = 60_000

/** Enqueues a due webhook delivery, and removes an ended one after its retention. */
export async function repairDelivery({ table, queue, clock }: ReconcilerDeps, { tenant, id }: DueRow): Promise<void> {
  const row = await table.deliveries.get(tenant, id)
  if (row === null) return
  if (row.status !== 'pending') return table.deliveries.remove(tenant, id)
  joinTrace(row.traceparent)
  const now = clock.now()
  await table.deliveries.postpone(tenant, id, Math.max(now + AGAIN_MS, row.lease?.expiresAt ?? 0))
  if (isLeased(row, now)) return
  await notifyDeliveries(queue, { tenant, deliveries: [row] })
}
