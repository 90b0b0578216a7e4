/** Interval between two checks, and maximum time of one answer, milliseconds. */
export const PROBE_INTERVAL_MS = 15_000
/** A sandbox counts as lost after this many consecutive checks without an answer. */
export const MISSES = 3

/**
 * Checks whether a sandbox still answers, and calls `onSilent` once if it does not. A frozen sandbox accepts connections and bytes and never answers,
 * so neither a failed connection nor a stalled transfer shows it. Checks are counted instead of time, so a suspended machine loses no sandbox.
 */
export function watchSandbox(probe: (signal: AbortSignal) => Promise<unknown>, onSilent: () => void): { stop(): void } {
  let misses = 0
  let isStopped = false
  let timer = setTimeout(next, PROBE_INTERVAL_MS)
  function next(): void {
    void probe(AbortSignal.timeout(PROBE_INTERVAL_MS))
      .then(
        () => void (misses = 0),
        () => void (misses += 1),
      )
      .then(() => {
        if (isStopped) return
        if (misses >= MISSES) onSilent()
        else timer = setTimeout(next, PROBE_INTERVAL_MS)
      })
  }
  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
