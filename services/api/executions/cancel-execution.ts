import { notifyExecution } from '../../core/executions/accept-execution.ts'
import { notifyResponse } from '../../core/responses/accept-response.ts'
import { emptyResult } from '../../core/executions/empty-result.ts'
import { topicOf, type ExecutionEvent } from '../../core/events.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import { newId } from '../../core/ids.ts'
import { LEASE_MS } from '../../jobs/lease.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * Requests that an execution ends; idempotent. One that no sandbox has received ends immediately; for any other the worker that holds the lease,
 * or the next one, interrupts the code. Returns the row afterwards, null when there is none.
 */
export async function cancelExecution(
  deps: Pick<ApiDeps, 'table' | 'queue' | 'signals' | 'clock'>,
  tenant: string,
  id: string,
): Promise<Execution | null> {
  const { executions } = deps.table
  const requested = await executions.requestCancel(tenant, id, deps.clock.now())
  if (requested === null || hasEnded(requested.status)) return requested
  const ended = requested.sandboxId === null ? await endUntouched(deps, requested) : null
  deps.signals.notify(topicOf('execution', id))
  // The message starts the next execution of the container's queue, or a step for an execution without a lease.
  await notifyExecution(deps.queue, tenant, requested.containerId, id)
  if (ended?.responseId) await notifyResponse(deps.queue, tenant, ended.responseId)
  return ended ?? requested
}

/** Null when a worker holds the lease, or a sandbox may have received the code. */
async function endUntouched(deps: Pick<ApiDeps, 'table' | 'clock'>, row: Execution): Promise<Execution | null> {
  const { executions, events } = deps.table
  const now = deps.clock.now()
  const acquired = await executions.acquireLease(row.tenant, row.id, { owner: newId('worker'), now, expiresAt: now + LEASE_MS })
  if (acquired.kind === 'ended') return acquired.row
  if (acquired.kind !== 'acquired') return null
  if (acquired.row.sandboxId !== null) {
    await executions.commit(row.tenant, row.id, acquired.row.fence, {}, { release: true })
    return null
  }
  const last = (await events.last({ kind: 'execution', tenant: row.tenant, id: row.id }))?.events.at(-1)?.seq ?? 0
  const done: ExecutionEvent = { seq: last + 1, at: now, type: 'done', status: 'cancelled', reason: 'caller' }
  return executions.commit(row.tenant, row.id, acquired.row.fence, {
    status: 'cancelled',
    reason: 'caller',
    endedAt: now,
    result: emptyResult(acquired.row, now),
    tailEvents: [done],
  })
}
