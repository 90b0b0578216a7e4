import type { RunDeps } from '../../deps.ts'
import type { WarmCandidates, WarmKind } from './warm-candidates.ts'

/** Delay of a refill after a claim, milliseconds. A refill uses seconds of processor time, and the claimed sandbox's code must start first. */
const REFILL_DELAY_MS = 50

/** Refills the pool after a claim and prefetches candidates for the next one: after a delay, or when the step of the claim ends before. */
export class RefillAfterClaim {
  readonly #queue: RunDeps['queue']
  readonly #candidates: WarmCandidates
  readonly #waiting = new Map<string, () => Promise<void>>()

  constructor({ queue }: Pick<RunDeps, 'queue'>, candidates: WarmCandidates) {
    this.#queue = queue
    this.#candidates = candidates
  }

  schedule(executionId: string, kind: WarmKind): void {
    const refill = async (): Promise<void> => {
      clearTimeout(timer)
      this.#waiting.delete(executionId)
      await Promise.all([
        this.#queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool' }).catch(() => undefined),
        this.#candidates.prefetch(kind),
      ])
    }
    const timer = setTimeout(() => void refill(), REFILL_DELAY_MS)
    this.#waiting.set(executionId, refill)
  }

  /** Resolves when what was scheduled for this execution is done. Never rejects: the reconciler refills too. */
  async finish(executionId: string): Promise<void> {
    await this.#waiting.get(executionId)?.()
  }
}
