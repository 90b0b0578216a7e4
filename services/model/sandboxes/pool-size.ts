/** The demand for which a warm pool is sized. */
export interface PoolDemand {
  /** New containers per second that need a sandbox, averaged over seconds, not hours. */
  readonly arrivalsPerSecond: number
  /** Time from the request for a sandbox until it is ready (`startMs` of a driver is a typical one). */
  readonly startSeconds: number
  /** Acceptable waiting time for a sandbox; 0 means that one must be ready. */
  readonly targetWaitSeconds: number
  /** Share of the clients who wait no longer than that, above 0 and below 1. */
  readonly share: number
}

/** Larger than any account allows; bounds the search for unrealistic demands. */
const MAX_SIZE = 100_000

/**
 * The number of warm sandboxes that a demand needs.
 *
 * Each claim starts one replacement, so a client receives the sandbox that was requested `size` claims earlier. It is ready in time if fewer than
 * `size` clients arrived within (start time − target wait) before. Arrivals are independent, so their number N is Poisson distributed, and the
 * result is the smallest size with P(N < size) ≥ share. Throws RangeError for values out of range.
 */
export function poolSizeFor({ arrivalsPerSecond, startSeconds, targetWaitSeconds, share }: PoolDemand): number {
  const window = startSeconds - targetWaitSeconds
  const mean = arrivalsPerSecond * window
  if (!(arrivalsPerSecond >= 0 && startSeconds >= 0 && targetWaitSeconds >= 0 && Number.isFinite(mean)))
    throw new RangeError('Arrivals, start time and target wait of a pool must be numbers from 0 up.')
  if (!(share > 0 && share < 1)) throw new RangeError('The share of clients who wait no longer than the target must be between 0 and 1.')
  if (mean <= 0) return 0
  // In logarithms: e^-mean is 0 in floating point for a mean above 745.
  let logTerm = -mean
  let reached = Math.exp(logTerm)
  let size = 1
  while (reached < share && size < MAX_SIZE) {
    logTerm += Math.log(mean / size)
    reached += Math.exp(logTerm)
    size += 1
  }
  return size
}
