import { hasEnded, isPaused, type Execution } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'
import type { LeasedStore } from '../../ports/leased-store.ts'
import type { DueRow } from '../../ports/table.ts'
import { removeResponse } from '../../operations/turns/remove-response.ts'
import { hasResponseEnded, responseRemoval } from '../../model/responses/response.ts'
import { isLeased } from '../../model/lease.ts'
import { joinTrace } from '../../model/trace.ts'
import { failAsDeadLetter } from '../../jobs/dead-letter.ts'
import type { Job, JobRow } from '../../jobs/job.ts'
import { acquireLease } from '../../jobs/lease.ts'
import { publishResponseEnd } from '../../operations/webhooks/publish-event.ts'
import { responseJob } from '../../operations/turns/response-job.ts'
import { DAY_MS, nextRetentionCheck } from '../../model/tenants/retention.ts'
import type { ReconcilerDeps, RepairDeps } from '../deps.ts'
import { repeatAfterMs } from './repeat-after.ts'
import { executionJob } from '../../operations/executions/execution-job.ts'
import { endOverdue } from '../../operations/executions/end-without-result.ts'

/** An execution whose code reached no sandbox for this long ends `timed_out`, milliseconds. */
const MAX_WAIT_MS = 3_600_000
/**
 * A job without a lease holder for this time after its time limit fails in every step, milliseconds. The retry of a failed message often finds
 * the row busy and succeeds, so the dead-letter queue alone would not detect such a job.
 */
const GIVE_UP_MS = 600_000

/** An execution that waits, or whose worker died. */
export async function repairExecution(deps: ReconcilerDeps, due: DueRow): Promise<void> {
  const row = await deps.table.executions.get(due.tenant, due.id)
  if (row === null || hasEnded(row.status)) return
  joinTrace(row.traceparent)
  const now = deps.clock.now()
  if (isLeased(row, now)) return waitForHolder(deps.table.executions, row)
  if (row.sandboxId === null && now - row.createdAt > MAX_WAIT_MS) {
    const acquired = await acquireLease(deps, deps.table.executions, { tenant: row.tenant, id: row.id, seen: { sandboxId: null } })
    if (acquired.kind === 'acquired') await endOverdue(deps, acquired.row)
    return
  }
  return advance(deps, executionJob(deps), { row, endsBy: executionEndsBy(row) })
}

/** When its time limit ends it, epoch ms. The time begins in the sandbox, and does not pass while that is suspended. */
const executionEndsBy = (row: Execution): number =>
  row.sandboxId === null || isPaused(row) ? Infinity : (row.startedAt ?? row.createdAt) + (row.pauses?.ms ?? 0) + row.timeoutSeconds * 1000

/** As for an execution. An ended response is due when its retention is checked. */
export async function repairResponse(deps: RepairDeps, due: DueRow): Promise<void> {
  const row = await deps.table.responses.get(due.tenant, due.id)
  if (row === null) return
  joinTrace(row.traceparent)
  const now = deps.clock.now()
  if (hasResponseEnded(row.status)) {
    const { responseDays } = await deps.limits.of(row.tenant)
    const endedAt = row.completedAt ?? row.createdAt
    const removeAt = responseRemoval(row, endedAt, responseDays)
    if (removeAt <= now) return removeResponse(deps, row.tenant, row.id)
    // Due soon after its end: an endpoint waits for its event, which may not have been published.
    if (now < endedAt + DAY_MS) await publishResponseEnd(deps, row)
    const checkAt = now < endedAt + DAY_MS ? endedAt + DAY_MS : nextRetentionCheck(now, removeAt)
    await deps.table.postpone(due, Math.min(removeAt, checkAt))
    return
  }
  if (isLeased(row, now)) return waitForHolder(deps.table.responses, row)
  return advance(deps, responseJob(deps), { row, endsBy: row.createdAt + LIMITS.maxResponseSeconds * 1000 })
}

/** The holder renews its lease or releases it. If it died, the row is due at the lease's end. */
const waitForHolder = async <Row extends JobRow>(rows: LeasedStore<Row>, { tenant, id, lease }: Row): Promise<void> =>
  lease === null ? undefined : rows.postpone(tenant, id, lease.expiresAt)

/** A job whose message was lost or whose worker died: a new message is enough, because the step reads the rows. `endsBy`: its time limit, epoch ms. */
async function advance<Row extends JobRow & { readonly createdAt: number }>(
  deps: ReconcilerDeps,
  job: Job<Row>,
  { row, endsBy }: { readonly row: Row; readonly endsBy: number },
): Promise<void> {
  const { tenant, id } = row
  const now = deps.clock.now()
  if (now > endsBy + GIVE_UP_MS && (await failAsDeadLetter(deps, job, { tenant, id })) === 'ended') return
  await job.rows.postpone(tenant, id, now + repeatAfterMs(now - row.createdAt))
  await job.enqueue(row, 0)
}
