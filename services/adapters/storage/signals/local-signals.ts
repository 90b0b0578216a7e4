import type { EndedRow, Signals } from '../../../ports/signals.ts'

/** Wakes waiters of the same process at once. */
export function createLocalSignals(): Signals {
  const listeners = new Map<string, Set<(ended: EndedRow | null) => void>>()
  return {
    notify(topic, ended) {
      for (const wake of listeners.get(topic) ?? []) wake(ended ?? null)
    },
    subscribe(topic) {
      let isPending = false
      let isClosed = false
      let resume: (() => void) | null = null
      let received: EndedRow | null = null
      const wake = (ended: EndedRow | null): void => {
        isPending = true
        received = ended ?? received
        resume?.()
      }
      const ofTopic = listeners.get(topic) ?? new Set()
      listeners.set(topic, ofTopic.add(wake))
      return {
        next: (maxMs) =>
          new Promise((resolve) => {
            const done = (): void => {
              clearTimeout(timer)
              resume = null
              isPending = false
              resolve(received)
              received = null
            }
            const timer = setTimeout(done, isClosed ? 0 : maxMs)
            resume = done
            if (isPending) done()
          }),
        close() {
          isClosed = true
          ofTopic.delete(wake)
          if (ofTopic.size === 0 && listeners.get(topic) === ofTopic) listeners.delete(topic)
          resume?.()
        },
      }
    },
  }
}
