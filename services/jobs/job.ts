import type { LeasedRow } from '../model/lease.ts'
import type { LeasedStore } from '../ports/leased-store.ts'

/** A row that is advanced in steps: an execution or a response. */
export interface JobRow extends LeasedRow {
  /** Trace of the request that created it. */
  readonly traceparent: string | null
  readonly cancelRequestedAt: number | null
  /** Since when every step has failed, epoch ms. */
  readonly stepsFailSince: number | null
}

/** What the engine needs to know about one kind of job. */
export interface Job<Row extends JobRow> {
  readonly rows: LeasedStore<Row>
  /** Enqueues the next step. If the message is lost, the reconciler sends another. */
  enqueue(row: Row, delaySeconds: number): Promise<void>
  /** Ends a row whose lease was just acquired as `failed`, reason `dead_letter`. Throws LeaseLostError when another worker has acquired the row. */
  endAsDeadLetter(row: Row): Promise<void>
}
