import type { Container } from '../../core/containers/container.ts'
import { notifyExecution, RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import type { RunDeps } from '../deps.ts'

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
