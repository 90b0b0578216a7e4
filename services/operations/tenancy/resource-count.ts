import { setTimeout as delay } from 'node:timers/promises'
import { BoundedCache } from '../../model/bounded-cache.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import { SharedRow } from './shared-row.ts'

/** A process reserves this part of a limit in advance, so that it rarely writes the row. */
const SHARE_OF_LIMIT = 1_000
/** A bound below half of the limit is used for this time without a read, milliseconds. Limits below `EXACT_BELOW` are always read. */
const CACHE_MS = 5_000
const EXACT_BELOW = 100
/** After a count that took longer than this, milliseconds, the next one starts at the earliest after so many times its duration. */
const LONG_COUNT_MS = 100
const PAUSE_FACTOR = 10
/** A check waits this long for a count, milliseconds; the count continues. */
const MAX_WAIT_MS = 1_000
const MAX_TENANTS = 10_000

type Bound =
  /** Nothing is known yet, and the tenant may have resources: the first check counts them. */
  | { readonly kind: 'uncounted'; readonly added: number }
  /** What the last count found, and what was reserved since then. */
  | { readonly kind: 'counted'; readonly counted: number; readonly added: number }
const UNCOUNTED: Bound = { kind: 'uncounted', added: 0 }
/** Null for an uncounted tenant. */
const sumOf = (bound: Bound): number | null => (bound.kind === 'uncounted' ? null : bound.counted + bound.added)

interface Local {
  /** Reserved by this process and not used. */
  left: number
  seen: number
  /** `seen` may be used until then, epoch ms. */
  seenUntil: number
  /** No count starts before this time, epoch ms. */
  countAgainAt: number
  count: Promise<void> | null
}

interface ResourcePorts {
  readonly sharedRows: Pick<SharedRowStore, 'get' | 'replace'>
  readonly clock: Clock
  /** Name of the row. */
  readonly name: string
  readonly limitOf: (tenant: string) => Promise<number>
  /** Counts what the tenant has. It may read many rows. */
  readonly count: (tenant: string) => Promise<number>
  /** MAX_WAIT_MS except in tests. */
  readonly maxWaitMs?: number
}

/**
 * How much a tenant has of a limited resource, as an upper bound: the last count plus what was reserved since. A removal writes nothing: when the bound
 * reaches the limit, the resource is counted again. While storage fails, or the first count of a tenant takes long, checks pass, because a limit must not
 * cause an outage.
 */
export class ResourceCount {
  readonly #ports: ResourcePorts
  readonly #rows: SharedRow<Bound>
  readonly #locals = new BoundedCache<string, Local>(MAX_TENANTS)

  constructor(ports: ResourcePorts) {
    this.#ports = ports
    this.#rows = new SharedRow(ports.sharedRows, ports.name, UNCOUNTED)
  }

  /** Reserves the amount; false when the tenant would exceed its limit. */
  async take(tenant: string, amount = 1): Promise<boolean> {
    const local = this.#localOf(tenant)
    if (local.left >= amount) {
      local.left -= amount
      return true
    }
    try {
      if (await this.#reserve(tenant, amount)) return true
      if (await this.#countAgain(tenant)) return await this.#reserve(tenant, amount)
      return (await this.#rows.read(tenant)).kind === 'uncounted'
    } catch {
      return true
    }
  }

  /** Records an amount that the tenant has already, also beyond its limit. */
  async add(tenant: string, amount: number): Promise<void> {
    const local = this.#localOf(tenant)
    local.left -= amount
    if (local.left >= 0) return
    try {
      const limit = await this.#ports.limitOf(tenant)
      const missing = Math.floor(limit / SHARE_OF_LIMIT) - local.left
      local.left += missing
      const sum = await this.#rows.change(tenant, (bound) => {
        const values = { ...bound, added: bound.added + missing }
        return { values, result: sumOf(values) }
      })
      if (sum !== null) local.seen = sum
    } catch {
      // The next count includes it.
    }
  }

  /** Whether the tenant may have this much more. */
  async admits(tenant: string, amount = 1): Promise<boolean> {
    try {
      const limit = await this.#ports.limitOf(tenant)
      const local = this.#localOf(tenant)
      const isCached = limit >= EXACT_BELOW && this.#ports.clock.now() < local.seenUntil
      if (isCached && local.seen + amount <= limit / 2) return true
      if ((await this.bound(tenant)) + amount <= limit) return true
      return (await this.#countAgain(tenant)) && (await this.bound(tenant)) + amount <= limit
    } catch {
      return true
    }
  }

  /** How much more the tenant may have, at most `wanted`. */
  async capacity(tenant: string, wanted: number): Promise<number> {
    if (await this.admits(tenant, wanted)) return wanted
    return Math.max(0, (await this.#ports.limitOf(tenant)) - (await this.bound(tenant)))
  }

  limitOf(tenant: string): Promise<number> {
    return this.#ports.limitOf(tenant)
  }

  /** The upper bound; 0 while the first count runs. */
  async bound(tenant: string): Promise<number> {
    const local = this.#localOf(tenant)
    let sum = sumOf(await this.#rows.read(tenant))
    if (sum === null && (await this.#countAgain(tenant))) sum = sumOf(await this.#rows.read(tenant))
    if (sum === null) return 0
    local.seen = sum - Math.max(0, local.left)
    local.seenUntil = this.#ports.clock.now() + CACHE_MS
    return local.seen
  }

  async #reserve(tenant: string, amount: number): Promise<boolean> {
    const limit = await this.#ports.limitOf(tenant)
    const local = this.#localOf(tenant)
    const granted = await this.#rows.change<number | null>(tenant, (bound) => {
      const free = limit - (sumOf(bound) ?? Number.POSITIVE_INFINITY)
      if (free < amount) return { values: bound, result: null }
      const taken = Math.min(free, amount + Math.floor(limit / SHARE_OF_LIMIT))
      return { values: { ...bound, added: bound.added + taken }, result: taken }
    })
    if (granted === null) return false
    local.left += granted - amount
    return true
  }

  /** False when the last count was too recent, or when the count takes long. */
  async #countAgain(tenant: string): Promise<boolean> {
    const local = this.#localOf(tenant)
    if (local.count === null && this.#ports.clock.now() < local.countAgainAt) return false
    const count = (local.count ??= this.#count(tenant, local).finally(() => (local.count = null)))
    return Promise.race([count.then(() => true), delay(this.#ports.maxWaitMs ?? MAX_WAIT_MS, false, { ref: false })])
  }

  async #count(tenant: string, local: Local): Promise<void> {
    const startedAt = this.#ports.clock.now()
    const before = await this.#rows.read(tenant)
    const counted = await this.#ports.count(tenant)
    local.left = 0
    // What was reserved during the count may not be in it.
    await this.#rows.change(tenant, ({ added }) => ({
      values: { kind: 'counted', counted, added: Math.max(0, added - before.added) },
      result: null,
    }))
    const now = this.#ports.clock.now()
    const tookMs = now - startedAt
    local.countAgainAt = tookMs > LONG_COUNT_MS ? now + PAUSE_FACTOR * tookMs : 0
  }

  #localOf(tenant: string): Local {
    return this.#locals.getOrCreate(tenant, () => ({ left: 0, seen: 0, seenUntil: 0, countAgainAt: 0, count: null }))
  }
}
