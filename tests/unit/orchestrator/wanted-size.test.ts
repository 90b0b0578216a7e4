import { describe, expect, it } from 'vitest'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { wantedSize } from '../../../services/workers/place/wanted-size.ts'

const NOW = 1_800_000_000_000
const BOUNDS = { min: 2, max: 20 }

/** A sandbox that took `startMs` to start and was claimed `claimedAgoMs` ago. */
const claimed = (claimedAgoMs: number, startMs = 2_000): Sandbox => ({
  ...newSandbox({ memoryTier: '1g', image: 'sandbox:1', claimedBy: { tenant: 't', containerId: 'c' } }, NOW - 100_000),
  state: 'claimed',
  readyAt: NOW - 100_000 + startMs,
  claimedAt: NOW - claimedAgoMs,
})
const many = (count: number, startMs?: number): Sandbox[] => Array.from({ length: count }, (_, index) => claimed(index * 500, startMs))

describe('the wanted size of a pool', () => {
  it('is the configured size without claims, or when it may not grow', () => {
    expect(wantedSize([], BOUNDS, NOW)).toBe(2)
    expect(wantedSize([claimed(60_000), claimed(3_600_000)], BOUNDS, NOW)).toBe(2)
    expect(wantedSize(many(60), { min: 2, max: 2 }, NOW)).toBe(2)
    expect(wantedSize(many(60), { min: 0, max: 0 }, NOW)).toBe(0)
  })

  it('grows with the claims of the last minute and with the start time', () => {
    // One a second and 2 s a start: P(N ≤ 4) of a Poisson distribution with mean 2 is 0.947, P(N ≤ 5) is 0.983.
    expect(wantedSize(many(60), BOUNDS, NOW)).toBe(6)
    expect(wantedSize(many(120), BOUNDS, NOW)).toBeGreaterThan(6)
    expect(wantedSize(many(60, 8_000), BOUNDS, NOW)).toBeGreaterThan(wantedSize(many(60), BOUNDS, NOW))
  })

  it('never leaves its bounds', () => {
    expect(wantedSize(many(120, 60_000), BOUNDS, NOW)).toBe(20)
    expect(wantedSize(many(1), BOUNDS, NOW)).toBe(2)
  })

  it('is the configured size until a start time is known', () => {
    const unknown = { ...claimed(1_000), readyAt: null }
    expect(wantedSize([unknown, unknown], BOUNDS, NOW)).toBe(2)
  })
})
