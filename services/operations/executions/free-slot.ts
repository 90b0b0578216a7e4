import { notifyExecution } from '../notify/notify-execution.ts'
import { ExecutionSlots } from './execution-slots.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'

/** Frees the slot of an ended execution and enqueues the waiting executions of the tenant that receive a slot. */
export async function freeSlot(
  deps: { readonly table: Pick<Table, 'sharedRows'>; readonly queue: Queue; readonly clock: Clock; readonly slots?: ExecutionSlots },
  tenant: string,
  executionId: string,
): Promise<void> {
  const slots = deps.slots ?? new ExecutionSlots(deps)
  const admitted = await slots.release(tenant, executionId)
  await Promise.all(admitted.map((next) => notifyExecution(deps.queue, { tenant, containerId: next.containerId, id: next.executionId })))
}
