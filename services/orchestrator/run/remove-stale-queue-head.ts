import { notifyExecution, RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import type { Container } from '../../core/containers/container.ts'
import { hasEnded } from '../../core/executions/execution.ts'
import { recordUsage } from '../../core/usage/record-usage.ts'
import { freeSlot } from './free-slot.ts'
import type { EndDeps } from './end-execution.ts'

/**
 * Removes a head that has ended and whose worker crashed before the removal, or whose row was never written, and enqueues the next one.
 * Only for a head that is too old for an acceptance in progress. False when it has not ended.
 */
export async function removeStaleQueueHead(
  deps: Pick<EndDeps, 'table' | 'queue' | 'clock' | 'objects' | 'slots'>,
  container: Container,
  head: string,
): Promise<boolean> {
  const { tenant, id } = container
  const row = await deps.table.executions.get(tenant, head)
  if (row !== null && !hasEnded(row.status)) return false
  if (row !== null) await recordUsage(deps, row)
  await freeSlot(deps, tenant, head)
  const dueAt = deps.clock.now() + RECONCILE_AFTER_MS
  const next = (await deps.table.containers.dequeue(tenant, id, head, container.lastActiveAt, dueAt))?.queue[0]
  if (next !== undefined) await notifyExecution(deps.queue, tenant, id, next)
  return true
}
