import type { MemoryTier } from '../../../core/limits.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { RunDeps } from '../../deps.ts'

const CANDIDATES = 8

/**
 * Warm sandboxes that a claim can try. Those that were left after the last claim are tried first, so that the next claim is one write without a
 * query before it. The claim's own condition refuses one that another worker claimed meanwhile.
 */
export class WarmCandidates {
  readonly #deps: Pick<RunDeps, 'table' | 'image'>
  readonly #remembered = new Map<MemoryTier, string[]>()

  constructor(deps: Pick<RunDeps, 'table' | 'image'>) {
    this.#deps = deps
  }

  /** Ids, each yielded once: first the remembered ones, then those that the table has now. */
  async *of(tier: MemoryTier): AsyncGenerator<string> {
    const tried = new Set<string>()
    const remembered = this.#remembered.get(tier) ?? []
    for (let id = remembered.shift(); id !== undefined; id = remembered.shift()) {
      tried.add(id)
      yield id
    }
    for (const id of await this.#query(tier)) if (!tried.has(id)) yield id
  }

  /** Remembers the sandboxes that are ready now. Never rejects. */
  async prefetch(tier: MemoryTier): Promise<void> {
    this.#remembered.set(tier, await this.#query(tier).catch(() => []))
  }

  async #query(tier: MemoryTier): Promise<string[]> {
    const { table, image } = this.#deps
    const isUsable = (sandbox: Sandbox): boolean => sandbox.protocol === SUPERVISOR_PROTOCOL && sandbox.image === image
    return (await table.sandboxes.ready(tier, CANDIDATES)).filter(isUsable).map(({ id }) => id)
  }
}
