import { notifyExecution } from '../../core/executions/accept-execution.ts'
import { releaseSlot } from '../../core/executions/execution-share.ts'
import type { StepDeps } from '../deps.ts'

/** Frees the slot of an ended execution and enqueues the executions of the tenant that got one by it. */
export async function freeSlot(deps: Pick<StepDeps, 'table' | 'queue' | 'clock'>, tenant: string, executionId: string): Promise<void> {
  const admitted = await releaseSlot(deps, tenant, executionId)
  await Promise.all(admitted.map((next) => notifyExecution(deps.queue, tenant, next.containerId, next.executionId)))
}
