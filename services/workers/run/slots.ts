import type { Container } from '../../model/containers/container.ts'
import { hasEnded } from '../../model/executions/execution.ts'
import type { StepDeps } from '../deps.ts'
import type { ExecutionLease } from './execution-lease.ts'
import { freeSlot } from '../../operations/executions/free-slot.ts'

/** The reconciler reads a waiting execution again after this, milliseconds; the end of another one sends the message that starts it. */
const SLOT_RECHECK_MS = 60_000

/** Whether the tenant may run this execution now; otherwise it waits for a slot. */
export async function acquireSlot(deps: StepDeps, { view }: ExecutionLease, { id: containerId }: Container): Promise<boolean> {
  const { concurrentExecutions } = await deps.limits.of(view.tenant)
  return deps.slots.request(view.tenant, { executionId: view.id, containerId }, concurrentExecutions)
}

/** Frees the slot of an execution that ended before this step requested it. */
export async function freeUnusedSlot(deps: StepDeps, { view: { tenant, id } }: ExecutionLease): Promise<void> {
  const row = await deps.table.executions.get(tenant, id)
  if (row === null || hasEnded(row.status)) await freeSlot(deps, tenant, id)
}

/** Leaves an execution whose tenant is at its limit of concurrent executions. `isMarked`: the row is `running` already. */
export async function waitForSlot(
  { table, clock }: Pick<StepDeps, 'table' | 'clock'>,
  lease: ExecutionLease,
  { tenant, id }: Container,
  isMarked: boolean,
): Promise<null> {
  if (isMarked) await lease.commit({ status: 'starting', sandboxId: null, startedAt: null })
  await lease.release()
  const dueAt = clock.now() + SLOT_RECHECK_MS
  await Promise.all([table.executions.postpone(tenant, lease.view.id, dueAt), table.containers.postpone(tenant, id, dueAt)])
  return null
}
