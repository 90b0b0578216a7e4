/** What a warm pool is sized for. */
export interface PoolDemand {
  /** Fresh containers that ask for a sandbox, one a second being 1. Bursts are averages over seconds, not hours. */
  readonly arrivalsPerSecond: number
  /** From asking for a sandbox until it is ready: about 1.5 with Docker, 30 to 60 on Fargate. */
  readonly startSeconds: number
  /** A caller may wait this long for a sandbox; 0 means that one is there. */
  readonly targetWaitSeconds: number
  /** Share of the callers who wait no longer than that, above 0 and below 1. */
  readonly share: number
}

/** More than any account may start; it bounds the search for a demand that nobody means. */
const MAX_SIZE = 100_000

/**
 * How many warm sandboxes answer this demand: arrival rate × start time × target wait → size.
 *
 * Each claim starts one replacement, so a caller gets the sandbox that was asked for `size` claims ago. It is there in time when fewer than
 * `size` callers came within (start time − target wait) before. Callers come independently of one another, so that number is Poisson
 * distributed, and the answer is the smallest size with P(N < size) ≥ share. Throws RangeError for a demand that is no number or no share.
 */
export function poolSizeFor({ arrivalsPerSecond, startSeconds, targetWaitSeconds, share }: PoolDemand): number {
  const window = startSeconds - targetWaitSeconds
  const mean = arrivalsPerSecond * window
  if (!(arrivalsPerSecond >= 0 && startSeconds >= 0 && targetWaitSeconds >= 0 && Number.isFinite(mean)))
    throw new RangeError('Arrivals, start time and target wait of a pool must be numbers from 0 up.')
  if (!(share > 0 && share < 1)) throw new RangeError('The share of callers who wait no longer must lie between 0 and 1.')
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
