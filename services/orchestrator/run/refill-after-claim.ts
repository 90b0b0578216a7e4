import type { MemoryTier } from '../../core/limits.ts'
import type { RunDeps } from '../deps.ts'
import type { WarmCandidates } from './warm-candidates.ts'

/** A refill takes seconds of processor time, so the code that the sandbox was claimed for gets this much of a lead, milliseconds. */
const REFILL_DELAY_MS = 50

/** What a claim leaves to be done: the pool is refilled and looked at for the next claim. Done after the lead, or when the step ends before. */
export interface AfterClaim {
  begin(executionId: string, tier: MemoryTier): void
  /** Resolves when what was begun for this execution has been done. Never rejects: the reconciler refills too. */
  end(executionId: string): Promise<void>
}

export function createAfterClaim({ queue }: Pick<RunDeps, 'queue'>, candidates: WarmCandidates): AfterClaim {
  const waiting = new Map<string, () => Promise<void>>()
  return {
    begin(executionId, tier) {
      const act = async (): Promise<void> => {
        clearTimeout(timer)
        waiting.delete(executionId)
        await Promise.all([
          queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool' }).catch(() => undefined),
          candidates.lookAhead(tier),
        ])
      }
      const timer = setTimeout(() => void act(), REFILL_DELAY_MS)
      waiting.set(executionId, act)
    },
    async end(executionId) {
      await waiting.get(executionId)?.()
    },
  }
}
