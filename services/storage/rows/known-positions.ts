/** More than a process reads or writes at the same time. */
const MAX_POSITIONS = 20_000

/**
 * Remembers numbers at which a batch of a log was seen to end. Batches never change, so such a number stays an end for ever, and a
 * reader that continues from there need not search for a batch that began before it.
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
