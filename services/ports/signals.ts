import type { Execution } from '../model/executions/execution.ts'
import type { ResponseRecord } from '../model/responses/response.ts'

/** The ended row of a topic. */
export type EndedRow = Execution | ResponseRecord

/** Ends waits early. Correctness never depends on it: a waiter reads the row after every notification and every poll. */
export interface Signals {
  /** With `ended`, waiters in the same process need no read: a row that has ended never changes. */
  notify(topic: string, ended?: EndedRow): void
  /** Subscribe before reading the row, so that no change is missed. */
  subscribe(topic: string): Subscription
}

export interface Subscription {
  /**
   * Resolves at the first `notify` since the last call, or when it is time to poll, at most after `maxMs`; with the row if the
   * notification contained it, otherwise with null.
   */
  next(maxMs: number): Promise<EndedRow | null>
  close(): void
}
