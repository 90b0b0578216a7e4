import type { Signals } from '../../../ports/signals.ts'

const FIRST_MS = 20
const LONGEST_MS = 500
const GROWTH = 1.5

/** For waiters without notifications: polls after 20 ms, then at increasing intervals up to 500 ms. */
export function createPollingSignals(): Signals {
  return {
    notify: () => undefined,
    subscribe() {
      let pauseMs = FIRST_MS
      let isClosed = false
      let resume: (() => void) | null = null
      return {
        next: (maxMs) =>
          new Promise((resolve) => {
            const done = (): void => {
              clearTimeout(timer)
              resume = null
              resolve(null)
            }
            const timer = setTimeout(done, isClosed ? 0 : Math.min(pauseMs, maxMs))
            pauseMs = Math.min(LONGEST_MS, pauseMs * GROWTH)
            resume = done
          }),
        close() {
          isClosed = true
          resume?.()
        },
      }
    },
  }
}
