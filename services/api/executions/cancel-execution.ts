import { notifyExecution } from '../../core/executions/accept-execution.ts'
import { notifyResponse } from '../../core/responses/accept-response.ts'
import { emptyResult } from '../../core/executions/empty-result.ts'
import { topicOf, type ExecutionEvent } from '../../core/events.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import { newId } from '../../core/ids.ts'
import { LEASE_MS } from '../../jobs/lease.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * Wishes an execution to end; idempotent. One that no sandbox has seen ends here and now; for any other the worker that has it, or
 * takes it next, interrupts the code. Returns the row as it is afterwards, null when there is none.
 */
export async function cancelExecution(
  deps: Pick<ApiDeps, 'table' | 'queue' | 'signals' | 'clock'>,
  tenant: string,
  id: string,
): Promise<Execution | null> {
  const { executions } = deps.table
  const wished = await executions.requestCancel(tenant, id, deps.clock.now())
  if (wished === null || hasEnded(wished.status)) return wished
  const ended = wished.sandboxId === null ? await endUntouched(deps, wished) : null
  deps.signals.notify(topicOf('execution', id))
  // The nudge moves the container's queue on, or wakes a worker for an execution that nobody holds.
  await notifyExecution(deps.queue, tenant, wished.containerId, id)
  if (ended?.responseId) await notifyResponse(deps.queue, tenant, ended.responseId)
  return ended ?? wished
}

/** Null when somebody holds the lease or code may have reached a sandbox meanwhile. */
async function endUntouched(deps: Pick<ApiDeps, 'table' | 'clock'>, row: Execution): Promise<Execution | null> {
  const { executions, events } = deps.table
  const now = deps.clock.now()
  const taken = await executions.acquireLease(row.tenant, row.id, { owner: newId('worker'), now, expiresAt: now + LEASE_MS })
  if (taken.kind === 'ended') return taken.row
  if (taken.kind !== 'taken') return null
  if (taken.row.sandboxId !== null) {
    await executions.commit(row.tenant, row.id, taken.row.fence, {}, { release: true })
    return null
  }
  const last = (await events.last({ kind: 'execution', tenant: row.tenant, id: row.id }))?.events.at(-1)?.seq ?? 0
  const done: ExecutionEvent = { seq: last + 1, at: now, type: 'done', status: 'cancelled', reason: 'caller' }
  return executions.commit(row.tenant, row.id, taken.row.fence, {
    status: 'cancelled',
    reason: 'caller',
    endedAt: now,
    result: emptyResult(taken.row, now),
    tailEvents: [done],
  })
}
