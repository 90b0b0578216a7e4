import type { Execution } from '../executions/execution.ts'
import type { ResponseRecord } from '../responses/response.ts'

/** The row that a topic is about, as it ended. */
export type EndedRow = Execution | ResponseRecord

/** Wakes waiters early. Correctness never depends on it: a waiter looks again after every wake and after every poll. */
export interface Signals {
  /** With `ended` waiters of the same process are spared a read: a row that has ended never changes again. */
  notify(topic: string, ended?: EndedRow): void
  /** Subscribe before reading the row, so that no change falls between. */
  subscribe(topic: string): Subscription
}

export interface Subscription {
  /**
   * Resolves at the first `notify` since the last call, or when it is time to look again, at the latest after `maxMs`; with the row if that
   * notification brought it, else with null.
   */
  next(maxMs: number): Promise<EndedRow | null>
  close(): void
}
