import { EventLogConflictError } from './event-log-writer.ts'
import type { Job, JobRow } from './job.ts'
import { LeaseLostError, releaseLease, type Worker } from './lease.ts'
import { rescheduleAfterFailure, type FailedStep } from './reschedule.ts'

/**
 * The row after a failed step. `lost`: another worker holds it, or it has ended. `released`: another step may start at once.
 * `rescheduled`: a message was sent with a delay; null when the job was given up. `held`: the table cannot be written, so the caller throws; the
 * queue redelivers the message, and the lease expires.
 */
export type Recovery =
  | { readonly kind: 'lost' }
  | { readonly kind: 'released' }
  | { readonly kind: 'held' }
  | { readonly kind: 'rescheduled'; readonly retryInSeconds: number | null }

/**
 * After a step failed with `cause`: a step that lost its lease, or whose event log another worker writes, leaves the row to its successor. Any
 * other failure is retried with back-off.
 */
export async function recover<Row extends JobRow>(
  worker: Worker,
  job: Job<Row>,
  { row, cause, isLost = false, hasProgressed = false }: FailedStep<Row> & { readonly cause: unknown; readonly isLost?: boolean },
): Promise<Recovery> {
  if (isLost || cause instanceof LeaseLostError || cause instanceof EventLogConflictError) {
    const released = await releaseLease({ rows: job.rows, clock: worker.clock }, row).catch(() => null)
    return { kind: released === null ? 'lost' : 'released' }
  }
  const rescheduled = await rescheduleAfterFailure(worker, job, { row, hasProgressed }).catch(() => null)
  return rescheduled === null ? { kind: 'held' } : { kind: 'rescheduled', ...rescheduled }
}
