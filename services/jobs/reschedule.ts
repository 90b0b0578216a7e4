import { RECONCILE_AFTER_MS } from '../model/lease.ts'
import type { Patch } from '../ports/leased-store.ts'
import { failAsDeadLetter } from './dead-letter.ts'
import type { Job, JobRow } from './job.ts'
import { releaseLease, type Worker } from './lease.ts'

/** A job of which every step fails for this long ends as a dead letter, milliseconds. Outages of a store or the table are usually shorter. */
const GIVE_UP_AFTER_MS = 300_000
/** The delay before the next retry, seconds. */
const RETRY_SECONDS = { min: 1, max: 30 } as const

/** What to do after a step failed at `now`, when every step since `failingSince` failed (epoch ms). Each delay equals the sum of all delays before it. */
function backOffAfterFailure(failingSince: number, now: number): { readonly retriesExhausted: boolean; readonly retryInSeconds: number } {
  const failingMs = now - failingSince
  const retryInSeconds = Math.min(RETRY_SECONDS.max, Math.max(RETRY_SECONDS.min, Math.round(failingMs / 1000)))
  return { retriesExhausted: failingMs > GIVE_UP_AFTER_MS, retryInSeconds }
}

export interface FailedStep<Row extends JobRow> {
  /** As it was acquired. */
  readonly row: Row
  /** Whether the step committed progress before it failed. */
  readonly hasProgressed?: boolean
}

/** When the next step begins; null when the job was given up. */
export interface Rescheduled {
  readonly retryInSeconds: number | null
}

/**
 * After a failed step: releases the lease and sends a new message with an increasing delay. A job with only failing steps for too long
 * ends as a dead letter. The failed message counts as done: a store that is unavailable for half a minute must not move every running job to
 * the dead-letter queue. Null when another worker holds the row; throws when the table cannot be written.
 */
export async function rescheduleAfterFailure<Row extends JobRow>(
  worker: Worker,
  job: Job<Row>,
  { row, hasProgressed = false }: FailedStep<Row>,
): Promise<Rescheduled | null> {
  const { tenant, id } = row
  const now = worker.clock.now()
  const stepsFailSince = hasProgressed ? now : (row.stepsFailSince ?? now)
  const { retriesExhausted, retryInSeconds } = backOffAfterFailure(stepsFailSince, now)
  const patch = { stepsFailSince } as unknown as Patch<Row>
  const ports = { rows: job.rows, clock: worker.clock }
  const released = await releaseLease(ports, row, { patch, dueAfterMs: retryInSeconds * 1000 + RECONCILE_AFTER_MS })
  if (released === null) return null
  if (retriesExhausted && (await failAsDeadLetter(worker, job, { tenant, id })) === 'ended') return { retryInSeconds: null }
  await job.enqueue(row, retryInSeconds)
  return { retryInSeconds }
}
