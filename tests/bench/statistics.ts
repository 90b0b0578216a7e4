export interface Figure {
  readonly unit: 'ms' | '1/s' | 'USD' | 'MB' | 'MB/s' | 's'
  readonly runs: number
  readonly min: number
  readonly median: number
  readonly p99: number
  readonly max: number
}

/** Nearest rank: with fewer than 100 runs the 99th percentile is the slowest. */
export function summarize(unit: Figure['unit'], samples: readonly number[]): Figure {
  if (samples.length === 0) throw new Error('A figure needs at least one run.')
  const sorted = samples.toSorted((a, b) => a - b)
  const rank = (share: number): number => quantile(sorted, share)
  return { unit, runs: sorted.length, min: rank(0), median: medianOfSorted(sorted), p99: rank(0.99), max: rank(1) }
}

/** Nearest rank. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN)
}

function medianOfSorted(sorted: readonly number[]): number {
  const middle = sorted.length >> 1
  const [low, high] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]]
  return round(((low ?? Number.NaN) + (high ?? Number.NaN)) / 2)
}

export const median = (samples: readonly number[]): number => summarize('ms', samples).median

/** Four digits are more than a run can reproduce. */
export const round = (value: number): number => Number(value.toPrecision(4))
