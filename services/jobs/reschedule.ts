import { RECONCILE_AFTER_MS } from '../model/lease.ts'
import type { Patch } from '../ports/leased-store.ts'
import { backOffAfterFailure } from './back-off.ts'
import { failAsDeadLetter } from './dead-letter.ts'
import type { Job, JobRow } from './job.ts'
import { releaseLease, type Worker } from './lease.ts'

/** When the next step begins; null when the job was given up. */
export interface Rescheduled {
  readonly retryInSeconds: number | null
}

/**
 * After a failed step: releases the lease and sends a new message with an increasing delay. A job with only failing steps for too long
 * ends as a dead letter. The failed message counts as done: a store that is unavailable for half a minute must not move every running job to
 * the dead-letter queue. `row` as it was acquired. Null when another worker holds the row; throws when the table cannot be written.
 */
export async function rescheduleAfterFailure<Row extends JobRow>(
  worker: Worker,
  job: Job<Row>,
  row: Row,
  options: { readonly hasProgressed?: boolean } = {},
): Promise<Rescheduled | null> {
  const { tenant, id } = row
  const now = worker.clock.now()
  const stepsFailSince = options.hasProgressed === true ? now : (row.stepsFailSince ?? now)
  const { retriesExhausted, retryInSeconds } = backOffAfterFailure(stepsFailSince, now)
  const patch = { stepsFailSince } as unknown as Patch<Row>
  const released = await releaseLease(job.rows, worker.clock, row, { patch, dueAfterMs: retryInSeconds * 1000 + RECONCILE_AFTER_MS })
  if (released === null) return null
  if (retriesExhausted && (await failAsDeadLetter(worker, job, tenant, id)) === 'ended') return { retryInSeconds: null }
  await job.enqueue(row, retryInSeconds)
  return { retryInSeconds }
}
