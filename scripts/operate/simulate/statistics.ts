export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return { p50: at(0.5), p99: at(0.99) }
}

export const round = (value: number): number => Math.round(value * 100) / 100

/** The last starts wait for a random pause of seconds when the platform's rate is no longer used up, so they say nothing about that rate. */
export const mostOf = (starts: number): number => Math.ceil(starts * 0.98)

/** The rate between the first of these times (ms) and the one at which 98 of 100 have started; 0 for fewer than two. */
export function startsPerSecond(times: readonly number[]): number {
  const counted = mostOf(times.length)
  const [first, last] = [times[0], times[counted - 1]]
  return first === undefined || last === undefined || last <= first ? 0 : round(((counted - 1) * 1000) / (last - first))
}
