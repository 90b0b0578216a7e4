import type { Subscription } from '../ports/signals.ts'
import { POLL_MS } from './wait-for-row.ts'

export interface RowWatch {
  /** Reads the row now. Rejects when that fails. */
  check(): Promise<void>
  close(): void
}

/**
 * Reads a row after each signal, and at least once a second, until `onRow` returns true. A read that fails is repeated with the next poll.
 * Without a subscription the row is polled only.
 */
export function watchRow<Row>(options: {
  readonly read: () => Promise<Row | null>
  readonly onRow: (row: Row | null) => boolean | Promise<boolean>
  readonly subscription?: Subscription
}): RowWatch {
  const { read, onRow } = options
  const subscription = options.subscription ?? pollOnly()
  let isClosed = false
  const close = (): void => {
    isClosed = true
    subscription.close()
  }
  const check = async (): Promise<void> => {
    const row = await read()
    if (!isClosed && (await onRow(row))) close()
  }
  const watch = async (): Promise<void> => {
    while (!isClosed) {
      await subscription.next(POLL_MS)
      if (!isClosed) await check().catch(() => undefined)
    }
  }
  void watch()
  return { check, close }
}

function pollOnly(): Subscription {
  let timer: NodeJS.Timeout | undefined
  let resume = (): void => undefined
  return {
    next: (maxMs) =>
      new Promise((resolve) => {
        resume = () => resolve(null)
        timer = setTimeout(resume, maxMs)
      }),
    close: () => {
      clearTimeout(timer)
      resume()
    },
  }
}
