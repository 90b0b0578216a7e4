import { poolSizeFor } from '../../model/sandboxes/pool-size.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'

/** Claims younger than this count as present demand, milliseconds. */
const WINDOW_MS = 60_000
const SHARE = 0.95

/** Bounds of the pool size of one tier; equal numbers keep it fixed. */
export interface PoolBounds {
  readonly min: number
  readonly max: number
}

/**
 * The wanted number of warm sandboxes of a tier: enough, within the bounds, that 95 of 100 claims at the rate of the last minute find one. `sandboxes` are the
 * rows of that tier; they show the rate of claims and the duration of starts.
 */
export function wantedSize(sandboxes: readonly Sandbox[], { min, max }: PoolBounds, now: number): number {
  if (min >= max) return min
  const claims = sandboxes.filter(({ claimedAt }) => claimedAt !== null && claimedAt > now - WINDOW_MS).length
  const starts = sandboxes.flatMap(({ readyAt, createdAt }) => (readyAt === null ? [] : [readyAt - createdAt])).toSorted((a, b) => a - b)
  const startMs = starts[starts.length >> 1]
  if (claims === 0 || startMs === undefined) return min
  const arrivalsPerSecond = claims / (WINDOW_MS / 1000)
  const needed = poolSizeFor({ arrivalsPerSecond, startSeconds: Math.max(0, startMs) / 1000, targetWaitSeconds: 0, share: SHARE })
  return Math.min(max, Math.max(min, needed))
}
