import { nudgeExecution, NUDGE_AFTER_MS } from '../../core/accept-execution.ts'
import { hasEnded } from '../../core/execution.ts'
import { LEASE_MS } from '../../core/lease.ts'
import type { DueRow } from '../../core/ports/table.ts'
import { hasResponseEnded } from '../../core/response.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { endOverdue } from '../run/end-without-result.ts'

/** An execution that nobody began for this long ends `timed_out`, milliseconds. */
const MAX_WAIT_MS = 3_600_000

/** A job whose message never came, or whose worker died: a nudge is enough, the step reads the rows. */
export async function repairExecution(deps: ReconcilerDeps, due: DueRow): Promise<void> {
  const row = await deps.table.executions.get(due.tenant, due.id)
  if (row === null || hasEnded(row.status)) return
  const now = deps.clock.now()
  if (row.status === 'queued' && now - row.createdAt > MAX_WAIT_MS) {
    const taken = await deps.table.executions.take(row.tenant, row.id, { owner: deps.workerId, now, expiresAt: now + LEASE_MS })
    if (taken.kind === 'taken') await endOverdue(deps, taken.row)
    return
  }
  await deps.table.executions.postpone(row.tenant, row.id, Math.max(now + NUDGE_AFTER_MS, row.lease?.expiresAt ?? 0))
  await nudgeExecution(deps.queue, row.tenant, row.containerId, row.id)
}

export async function repairResponse(deps: ReconcilerDeps, due: DueRow): Promise<void> {
  const row = await deps.table.responses.get(due.tenant, due.id)
  if (row === null || hasResponseEnded(row.status)) return
  const now = deps.clock.now()
  await deps.table.responses.postpone(row.tenant, row.id, Math.max(now + NUDGE_AFTER_MS, row.lease?.expiresAt ?? 0))
  await deps.queue.send('turns', { v: 1, type: 'response.step', tenant: row.tenant, responseId: row.id }, { group: row.tenant })
}
