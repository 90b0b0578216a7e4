/** Between two looks, and the longest that one answer may take, milliseconds. */
export const LOOK_EVERY_MS = 15_000
/** Looks in a row without an answer after which a sandbox counts as lost. */
export const MISSES = 3

/**
 * Looks whether a sandbox still answers and calls `onSilent` once when it does not. A frozen sandbox takes connections and bytes and never
 * answers, so neither a failed connection nor a stalled transfer tells. Looks are counted, not time: a machine that slept loses nothing.
 */
export function watchSandbox(look: (signal: AbortSignal) => Promise<unknown>, onSilent: () => void): { stop(): void } {
  let misses = 0
  let isStopped = false
  let timer = setTimeout(next, LOOK_EVERY_MS)
  function next(): void {
    void look(AbortSignal.timeout(LOOK_EVERY_MS))
      .then(
        () => void (misses = 0),
        () => void (misses += 1),
      )
      .then(() => {
        if (isStopped) return
        if (misses >= MISSES) onSilent()
        else timer = setTimeout(next, LOOK_EVERY_MS)
      })
  }
  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
