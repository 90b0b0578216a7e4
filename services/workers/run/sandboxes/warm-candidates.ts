import type { MemoryTier } from '../../../model/limits.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../../model/sandboxes/sandbox.ts'
import type { RunDeps } from '../../deps.ts'

/** Sandboxes that are read for one tier, of every image, and sandboxes of one image that a claim tries. */
const CANDIDATES = 32
const CANDIDATES_PER_KIND = 8

/** Interchangeable warm sandboxes: one tier and one image. */
export interface WarmKind {
  readonly tier: MemoryTier
  /** Reference of the image. */
  readonly image: string
}

/**
 * Warm sandboxes that a claim can try. Those that were left after the last claim are tried first, so that the next claim is one write without a
 * query before it. The claim's own condition refuses one that another worker claimed meanwhile.
 */
export class WarmCandidates {
  readonly #deps: Pick<RunDeps, 'table'>
  readonly #remembered = new Map<string, string[]>()

  constructor(deps: Pick<RunDeps, 'table'>) {
    this.#deps = deps
  }

  /** Ids, each yielded once: first the remembered ones, then those that the table has now. */
  async *of(kind: WarmKind): AsyncGenerator<string> {
    const tried = new Set<string>()
    const remembered = this.#remembered.get(keyOf(kind)) ?? []
    for (let id = remembered.shift(); id !== undefined; id = remembered.shift()) {
      tried.add(id)
      yield id
    }
    for (const id of await this.#query(kind)) if (!tried.has(id)) yield id
  }

  /** Remembers the sandboxes that are ready now. Never rejects. */
  async prefetch(kind: WarmKind): Promise<void> {
    this.#remembered.set(keyOf(kind), await this.#query(kind).catch(() => []))
  }

  async #query({ tier, image }: WarmKind): Promise<string[]> {
    const isUsable = (sandbox: Sandbox): boolean => sandbox.protocol === SUPERVISOR_PROTOCOL && sandbox.image === image
    const ready = await this.#deps.table.sandboxes.ready(tier, CANDIDATES)
    return ready
      .filter(isUsable)
      .slice(0, CANDIDATES_PER_KIND)
      .map(({ id }) => id)
  }
}

const keyOf = ({ tier, image }: WarmKind): string => `${tier} ${image}`
