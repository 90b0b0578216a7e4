import { cancelExecution } from '../executions/cancel-execution.ts'
import type { ApiDeps } from '../deps.ts'

/** Deletes a container: ends what runs in it and lets its sandbox stop; the reconciler sweeps the rest. Idempotent. */
export async function endContainer(
  deps: Pick<ApiDeps, 'table' | 'queue' | 'signals' | 'clock'>,
  tenant: string,
  id: string,
): Promise<void> {
  // The mark comes first: from then on nothing new is accepted, so the queue that comes back is the last one.
  const row = await deps.table.containers.markDeleted(tenant, id, deps.clock.now())
  if (row === null) return
  await Promise.all(row.queue.map((executionId) => cancelExecution(deps, tenant, executionId)))
  if (row.sandboxId === null) return
  // A lost message is made good by the reconciler, which finds the row by its due time.
  await deps.queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: row.sandboxId }, { group: tenant }).catch(() => undefined)
}
