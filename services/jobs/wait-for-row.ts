import type { EndedRow, Subscription } from '../ports/signals.ts'

/** A waiter reads the row again at least this often, so that a lost signal costs no more than this, milliseconds. */
export const POLL_MS = 1_000

interface RowWait<Row> {
  readonly read: () => Promise<Row>
  readonly isDone: (row: Row) => boolean
  /** What was read before. */
  readonly first: Row
  readonly now: () => number
  /** Epoch ms. */
  readonly deadline: number
  readonly signal: AbortSignal
  /** Instead of a second, milliseconds. */
  readonly pollMs?: number
}

/**
 * Reads a row until `isDone`, the deadline or the signal; returns what was read last. Make the subscription before the first write or read,
 * so that no change falls between.
 */
export async function waitForRow<Row extends EndedRow, First extends Row | null>(
  subscription: Subscription,
  { read, isDone, first, now, deadline, signal, pollMs = POLL_MS }: RowWait<Row | First>,
): Promise<Row | First> {
  let row = first
  while (!isDone(row)) {
    const left = deadline - now()
    if (left <= 0 || signal.aborted) return row
    const ended = await subscription.next(Math.min(left, pollMs))
    // A topic belongs to one row, so its payload is a row of this kind.
    row = ended === null ? await read() : (ended as Row)
  }
  return row
}
