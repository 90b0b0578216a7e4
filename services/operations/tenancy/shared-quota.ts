import { setTimeout as delay } from 'node:timers/promises'
import type { Quota, QuotaStore } from '../../ports/quota-store.ts'

const MAX_ATTEMPTS = 12
const MAX_PAUSE_MS = 8
/** Tenants whose last values are kept in memory. */
const MAX_CACHED = 1_000

/** Decides a change: the same object means no change. May be called again with other values. */
export type QuotaChange<Values extends object, Result> = (values: Values) => { readonly values: Values; readonly result: Result }

interface Waiting<Values extends object> {
  readonly change: QuotaChange<Values, unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (cause: unknown) => void
}

/**
 * A row of small state per tenant, changed by compare-and-set. It starts from the values that this process wrote last, so a change needs no
 * read while no other process writes the row. Changes that arrive during a write share the next one.
 */
export class SharedQuota<Values extends object> {
  readonly #quotas: QuotaStore
  readonly #name: string
  readonly #empty: Values
  readonly #cached = new Map<string, Quota<Values>>()
  readonly #waiting = new Map<string, Waiting<Values>[]>()

  constructor(quotas: QuotaStore, name: string, empty: Values) {
    this.#quotas = quotas
    this.#name = name
    this.#empty = empty
  }

  /** The values as they are in the table. */
  async read(tenant: string): Promise<Values> {
    return (await this.#quotas.get<Values>(tenant, this.#name)).values ?? this.#empty
  }

  /** Applies the change exactly once. Throws when the row cannot be written. */
  change<Result>(tenant: string, change: QuotaChange<Values, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const entry: Waiting<Values> = { change, resolve: (result) => resolve(result as Result), reject }
      const waiting = this.#waiting.get(tenant)
      if (waiting !== undefined) {
        waiting.push(entry)
        return
      }
      this.#waiting.set(tenant, [entry])
      void this.#writeAll(tenant)
    })
  }

  async #writeAll(tenant: string): Promise<void> {
    for (let batch = this.#takeWaiting(tenant); batch.length > 0; batch = this.#takeWaiting(tenant))
      try {
        const results = await this.#write(
          tenant,
          batch.map(({ change }) => change),
        )
        for (const [index, { resolve }] of batch.entries()) resolve(results[index])
      } catch (cause) {
        for (const { reject } of batch) reject(cause)
      }
    this.#waiting.delete(tenant)
  }

  #takeWaiting(tenant: string): readonly Waiting<Values>[] {
    return this.#waiting.get(tenant)?.splice(0) ?? []
  }

  async #write(tenant: string, changes: readonly QuotaChange<Values, unknown>[]): Promise<readonly unknown[]> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const cached = this.#cached.get(tenant)
      // After a failure of any kind the row decides.
      this.#cached.delete(tenant)
      const seen = cached ?? (await this.#quotas.get<Values>(tenant, this.#name))
      const before = seen.values ?? this.#empty
      const { values, results } = applyAll(before, changes)
      if (values === before) {
        if (cached === undefined) return results
        // Another process may have written what would be changed.
        continue
      }
      if (await this.#quotas.replace(tenant, this.#name, seen, values)) {
        this.#cache(tenant, { revision: seen.revision + 1, values })
        return results
      }
      if (cached === undefined) await delay(Math.random() * MAX_PAUSE_MS * attempt)
    }
    throw new Error(`The ${this.#name} quota of tenant ${tenant} changed during each of ${MAX_ATTEMPTS} attempts. The step is retried.`)
  }

  #cache(tenant: string, quota: Quota<Values>): void {
    if (this.#cached.size >= MAX_CACHED) this.#cached.delete(this.#cached.keys().next().value ?? tenant)
    this.#cached.set(tenant, quota)
  }
}

function applyAll<Values extends object>(
  before: Values,
  changes: readonly QuotaChange<Values, unknown>[],
): { readonly values: Values; readonly results: readonly unknown[] } {
  let values = before
  const results = changes.map((change) => {
    const changed = change(values)
    values = changed.values
    return changed.result
  })
  return { values, results }
}
