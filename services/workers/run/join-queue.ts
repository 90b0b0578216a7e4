import type { Container } from '../../model/containers/container.ts'
import { notifyExecution } from '../../operations/notify/notify-execution.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import type { RunDeps, StepDeps } from '../deps.ts'
import { endCancelled } from '../../operations/executions/end-without-result.ts'
import type { ExecutionLease } from './execution-lease.ts'

/** Enqueues an execution that its acceptance left outside the container's queue. */
export async function joinQueue(
  { table, queue, clock }: Pick<RunDeps, 'table' | 'queue' | 'clock'>,
  { tenant, id }: Container,
  executionId: string,
): Promise<void> {
  const now = clock.now()
  const after = await table.containers.enqueue(tenant, id, executionId, now, now + RECONCILE_AFTER_MS)
  if (typeof after !== 'string' && after.queue[0] === executionId) await notifyExecution(queue, tenant, id, executionId)
}

/** Adds a command that its acceptance left outside the container's commands; one beyond the maximum is cancelled. */
export async function joinCommands(deps: StepDeps, lease: ExecutionLease, { tenant, id }: Container): Promise<void> {
  const row = await lease.acquire()
  if (row === null || row.source.kind !== 'command') return
  const added = await deps.table.containers.addCommand(tenant, id, row.id, row.source, deps.clock.now())
  if (added === 'full') await endCancelled(deps, row, 'The container runs its maximum of commands.')
  else await lease.releaseAndEnqueue()
}
