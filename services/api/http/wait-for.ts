import type { EndedRow, Subscription } from '../../core/ports/signals.ts'

/** A waiter reads the row again at least this often, so that a lost signal costs no more than this, milliseconds. */
export const LOOK_AGAIN_MS = 1_000

/**
 * Reads until `isDone`, until `deadline` (epoch ms) or until the caller went away; returns what was read last. The subscription
 * was made before the first write or read, so no change falls between.
 */
export async function waitFor<Row extends EndedRow>(
  subscription: Subscription,
  read: () => Promise<Row>,
  isDone: (row: Row) => boolean,
  until: { readonly now: () => number; readonly deadline: number; readonly signal: AbortSignal },
  first: Row,
): Promise<Row> {
  let row = first
  while (!isDone(row)) {
    const left = until.deadline - until.now()
    if (left <= 0 || until.signal.aborted) return row
    const ended = await subscription.next(Math.min(left, LOOK_AGAIN_MS))
    // A topic is about one row, so what it brings is a row of this kind.
    row = ended === null ? await read() : (ended as Row)
  }
  return row
}
