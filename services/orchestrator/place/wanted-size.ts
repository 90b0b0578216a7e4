import { poolSizeFor } from '../../core/sandboxes/pool-size.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'

/** Claims that are younger count as the present demand, milliseconds. */
const WINDOW_MS = 60_000
const SHARE = 0.95

/** How far the pool of one tier may go; the same number twice keeps it fixed. */
export interface PoolBounds {
  readonly min: number
  readonly max: number
}

/**
 * How many sandboxes of a tier are to wait: what the claims of the last minute need for 95 of 100 to find one, within the bounds. `sandboxes` are the
 * rows of that tier, which tell both how often one was claimed and how long a start takes here.
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
