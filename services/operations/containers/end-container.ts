import { cancelExecution, type CancelPorts } from '../executions/cancel-execution.ts'

/** Deletes a container: cancels its executions and commands, and requests the stop of its sandbox; the reconciler removes the rest. Idempotent. */
export async function endContainer(deps: CancelPorts, tenant: string, id: string): Promise<void> {
  // The container is marked first: from then on no execution is accepted, so the returned queue is final.
  const row = await deps.table.containers.markDeleted(tenant, id, deps.clock.now())
  if (row === null) return
  const jobs = [...row.queue, ...(row.commands ?? []), ...(row.backgroundCommands ?? [])]
  await Promise.all(jobs.map((job) => cancelExecution(deps, { tenant, id: job })))
  if (row.sandboxId === null) return
  // If the message is lost, the reconciler finds the row by its due time.
  await deps.queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: row.sandboxId }, { group: tenant }).catch(() => undefined)
}
