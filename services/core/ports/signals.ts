/** Wakes waiters early. Correctness never depends on it: a waiter reads the row again after every wake and after every poll. */
export interface Signals {
  notify(topic: string): void
  /** Subscribe before reading the row, so that no change falls between. */
  subscribe(topic: string): Subscription
}

export interface Subscription {
  /** Resolves at the first `notify` since the last call, or when it is time to look again, at the latest after `maxMs`. */
  next(maxMs: number): Promise<void>
  close(): void
}
