import { describe, expect, it } from 'vitest'
import { poolSizeFor, type PoolDemand } from '../../../services/model/sandboxes/pool-size.ts'

const demand = (change: Partial<PoolDemand> = {}): PoolDemand => ({
  arrivalsPerSecond: 0.5,
  startSeconds: 60,
  targetWaitSeconds: 0,
  share: 0.95,
  ...change,
})

/** Simulates callers at random times; each claim requests one replacement. Returns the share that waited at most the limit. */
function play(size: number, { arrivalsPerSecond, startSeconds, targetWaitSeconds }: PoolDemand): number {
  let seed = 7
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const readyAt = Array.from({ length: size }, () => 0)
  const callers = 40_000
  let inTime = 0
  let now = 0
  for (let caller = 0; caller < callers; caller++) {
    now -= Math.log(random()) / arrivalsPerSecond
    if ((readyAt.shift() ?? Number.POSITIVE_INFINITY) <= now + targetWaitSeconds) inTime += 1
    readyAt.push(now + startSeconds)
  }
  return inTime / callers
}

describe('poolSizeFor', () => {
  it('knows the quantiles of a Poisson distribution', () => {
    // Mean 30: P(N ≤ 38) = 0.9350, P(N ≤ 39) = 0.9537.
    expect(poolSizeFor(demand())).toBe(40)
    // Mean 0.01: P(N = 0) = 0.990.
    expect(poolSizeFor(demand({ arrivalsPerSecond: 0.01, startSeconds: 1 }))).toBe(1)
  })

  it('is zero without arrivals, or when a start is faster than the allowed wait', () => {
    expect(poolSizeFor(demand({ arrivalsPerSecond: 0 }))).toBe(0)
    expect(poolSizeFor(demand({ startSeconds: 2, targetWaitSeconds: 2 }))).toBe(0)
  })

  it('decreases with the allowed wait and increases with the share', () => {
    expect(poolSizeFor(demand({ targetWaitSeconds: 30 }))).toBeLessThan(poolSizeFor(demand()))
    expect(poolSizeFor(demand({ share: 0.999 }))).toBeGreaterThan(poolSizeFor(demand()))
  })

  it.each([demand(), demand({ arrivalsPerSecond: 2, startSeconds: 1.5, share: 0.99 }), demand({ targetWaitSeconds: 20 })])(
    'is the smallest size that meets the allowed wait in a simulated queue: %o',
    (wanted) => {
      const size = poolSizeFor(wanted)
      expect(play(size, wanted)).toBeGreaterThan(wanted.share - 0.01)
      expect(play(size - 2, wanted)).toBeLessThan(wanted.share)
    },
  )

  it('is exact where e^-mean underflows', () => {
    // Mean 6,000, standard deviation 77.5: the 95 % quantile lies 1.645 of them above.
    expect(poolSizeFor(demand({ arrivalsPerSecond: 100 }))).toBeGreaterThan(6_110)
    expect(poolSizeFor(demand({ arrivalsPerSecond: 100 }))).toBeLessThan(6_145)
  })

  it('refuses an invalid demand', () => {
    expect(() => poolSizeFor(demand({ arrivalsPerSecond: Number.NaN }))).toThrow(RangeError)
    expect(() => poolSizeFor(demand({ startSeconds: -1 }))).toThrow(RangeError)
    expect(() => poolSizeFor(demand({ share: 1 }))).toThrow(RangeError)
  })
})
