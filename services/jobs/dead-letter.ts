import type { Job, JobRow } from './job.ts'
import { acquireLease, LeaseLostError, type Worker } from './lease.ts'

/** `busy`: another worker holds the job, so it has not failed yet. `ended`: it has ended, now or before. */
export type DeadLetterOutcome = 'ended' | 'busy'

/** Ends a job that no step can complete. */
export async function failAsDeadLetter<Row extends JobRow>(
  worker: Worker,
  job: Job<Row>,
  { tenant, id }: Pick<JobRow, 'tenant' | 'id'>,
): Promise<DeadLetterOutcome> {
  const acquired = await acquireLease(worker, job.rows, { tenant, id })
  if (acquired.kind === 'busy') return 'busy'
  if (acquired.kind !== 'acquired') return 'ended'
  try {
    await job.endAsDeadLetter(acquired.row)
    return 'ended'
  } catch (cause) {
    if (cause instanceof LeaseLostError) return 'busy'
    throw cause
  }
}
