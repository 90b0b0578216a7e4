import type { LeasedRow } from '../core/lease.ts'
import type { LeasedStore } from '../core/ports/leased-store.ts'

/** A row that is advanced in steps: an execution or a response. */
export interface JobRow extends LeasedRow {
  /** Of the request that asked for it. */
  readonly traceparent: string | null
  readonly cancelRequestedAt: number | null
  /** Since when every step of it failed (epoch ms). */
  readonly stepsFailSince: number | null
}

/** What the engine has to know of one kind of job. */
export interface Job<Row extends JobRow> {
  readonly rows: LeasedStore<Row>
  /** Sends a hint for the next step. The reconciler makes a lost one good. */
  enqueue(row: Row, delaySeconds: number): Promise<void>
  /** Ends a row whose lease was just acquired as `failed`, reason `dead_letter`. Throws LeaseLostError when another worker is faster. */
  endAsDeadLetter(row: Row): Promise<void>
}
