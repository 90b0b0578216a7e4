/** Larger than the number of logs that a process uses at the same time. */
const MAX_POSITIONS = 20_000

/**
 * Caches numbers at which a batch of a log ends. Batches never change, so a reader that continues from such a number need not search for a batch that
 * started before it.
 */
export interface KnownPositions {
  add(log: string, seq: number): void
  has(log: string, seq: number): boolean
}

export function createKnownPositions(): KnownPositions {
  const ends = new Set<string>()
  return {
    add(log, seq) {
      ends.add(`${log} ${seq}`)
      if (ends.size > MAX_POSITIONS) ends.delete(ends.values().next().value as string)
    },
    has: (log, seq) => ends.has(`${log} ${seq}`),
  }
}
