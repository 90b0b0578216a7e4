import type { Container } from '../../../model/containers/container.ts'
import { hasEnded } from '../../../model/executions/execution.ts'
import { workKindOf, workKindOfId } from '../../../model/executions/work-kinds.ts'
import { RECONCILE_AFTER_MS } from '../../../model/lease.ts'
import { publishCompletion, type EndDeps } from '../../../operations/executions/end-execution.ts'
import { endCancelled } from '../../../operations/executions/end-without-result.ts'
import { freeSlot } from '../../../operations/executions/free-slot.ts'
import { WORK_PLACES } from '../../../operations/executions/work-places.ts'
import { notifyExecution, notifyQueueHead } from '../../../operations/notify/notify-execution.ts'
import type { RunDeps, StepDeps } from '../../deps.ts'
import type { ExecutionLease } from './execution-lease.ts'

type QueuePorts = Pick<RunDeps, 'table' | 'queue' | 'clock'>

/** Appends work to the container's queue: an execution that its acceptance left outside it, or a command whose sandbox has to be prepared. */
export async function joinQueue({ table, queue, clock }: QueuePorts, { tenant, id }: Container, jobId: string): Promise<void> {
  const now = clock.now()
  const after = await table.containers.enqueue(tenant, id, { executionId: jobId, now, dueAt: now + RECONCILE_AFTER_MS })
  if (typeof after !== 'string' && after.queue[0] === jobId) await notifyExecution(queue, { tenant, containerId: id, id: jobId })
}

/** Lists a command that its acceptance left outside the container's commands; one beyond the maximum is cancelled. */
export async function joinBeside(deps: StepDeps, lease: ExecutionLease): Promise<void> {
  const row = await lease.acquire()
  if (row === null) return
  const now = deps.clock.now()
  const joined = await WORK_PLACES[workKindOf(row).name].join(deps.table.containers, row, { now, dueAt: now + RECONCILE_AFTER_MS })
  if (joined === 'full') await endCancelled(deps, row, 'The container runs its maximum of commands.')
  else await lease.releaseAndEnqueue()
}

/** Enqueues what waits in the container's queue only for its sandbox, which `preparedBy` has just prepared. */
export async function notifyWaiting(
  { table, queue }: Pick<QueuePorts, 'table' | 'queue'>,
  { tenant, id }: Container,
  preparedBy: string,
): Promise<void> {
  const ids = (await table.containers.get(tenant, id))?.queue ?? []
  const waiting = ids.filter((jobId) => jobId !== preparedBy && workKindOfId(jobId).place === 'beside')
  await Promise.all(waiting.map((jobId) => notifyExecution(queue, { tenant, containerId: id, id: jobId })))
}

/** A command waits in the container's queue only until its sandbox has the files. Then the next execution may start. */
export async function leaveQueue({ table, queue, clock }: QueuePorts, container: Container, jobId: string): Promise<void> {
  if (container.queue[0] !== jobId) return
  const now = clock.now()
  const without = await table.containers.dequeue(container.tenant, container.id, {
    executionId: jobId,
    now,
    dueAt: now + RECONCILE_AFTER_MS,
  })
  if (without !== null) await notifyQueueHead(queue, without, { executionId: without.queue[0], now })
}

/**
 * Completes a head that has ended when its worker crashed before the completion. Removes a head whose row was never written. Then enqueues the next one.
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
  const next = (await deps.table.containers.dequeue(tenant, id, { executionId: head, now: container.lastActiveAt, dueAt }))?.queue[0]
  if (next !== undefined) await notifyExecution(deps.queue, { tenant, containerId: id, id: next })
  return true
}
