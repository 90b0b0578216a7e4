import type { MemoryTier } from '../../core/limits.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { RunDeps } from '../deps.ts'

const CANDIDATES = 8

/**
 * Sandboxes that a claim can be tried on. Those that were left after the last claim are tried first, so that the next claim is one write
 * without a query before it; one that somebody else took meanwhile is refused by the claim's own condition.
 */
export interface WarmCandidates {
  /** Ids, each given out once: first what is remembered, then what the table says now. */
  of(tier: MemoryTier): AsyncIterable<string>
  /** Remembers what waits now. Never rejects. */
  lookAhead(tier: MemoryTier): Promise<void>
}

export function createWarmCandidates({ table, image }: Pick<RunDeps, 'table' | 'image'>): WarmCandidates {
  const remembered = new Map<MemoryTier, string[]>()
  const fits = ({ protocol, image: made }: Sandbox): boolean => protocol === SUPERVISOR_PROTOCOL && made === image
  const look = async (tier: MemoryTier): Promise<string[]> =>
    (await table.sandboxes.ready(tier, CANDIDATES)).filter(fits).map(({ id }) => id)
  return {
    async *of(tier) {
      const tried = new Set<string>()
      for (let id = remembered.get(tier)?.shift(); id !== undefined; id = remembered.get(tier)?.shift()) {
        tried.add(id)
        yield id
      }
      for (const id of await look(tier)) if (!tried.has(id)) yield id
    },
    async lookAhead(tier) {
      remembered.set(tier, await look(tier).catch(() => []))
    },
  }
}
