import { notifyExecution } from '../../operations/notify/notify-execution.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import type { Container } from '../../model/containers/container.ts'
import { hasEnded } from '../../model/executions/execution.ts'
import { publishCompletion, type EndDeps } from '../../operations/executions/end-execution.ts'
import { freeSlot } from '../../operations/executions/free-slot.ts'

/**
 * Completes a head that has ended and whose worker crashed before it did so, or removes one whose row was never written; the next one is enqueued.
 * Only for a head that is too old for an acceptance in progress. False when it has not ended.
 */
export async function removeStaleQueueHead(deps: Omit<EndDeps, 'telemetry'>, container: Container, head: string): Promise<boolean> {
  const { tenant, id } = container
  const row = await deps.table.executions.get(tenant, head)
  if (row !== null && !hasEnded(row.status)) return false
  if (row !== null) {
    await publishCompletion(deps, row)
    return true
  }
  await freeSlot(deps, tenant, head)
  const dueAt = deps.clock.now() + RECONCILE_AFTER_MS
  const next = (await deps.table.containers.dequeue(tenant, id, head, container.lastActiveAt, dueAt))?.queue[0]
  if (next !== undefined) await notifyExecution(deps.queue, tenant, id, next)
  return true
}
