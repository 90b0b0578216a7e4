import { BoundedCache } from '../../model/bounded-cache.ts'
import { changeByCompareAndSet } from '../../model/change-by-compare-and-set.ts'
import type { SharedRowState, SharedRowStore } from '../../ports/shared-row-store.ts'

/** Tenants whose last values are kept in memory. */
const MAX_CACHED = 1_000

/** Decides a change: the same object means no change. May be called again with other values. */
type Change<Values extends object, Result> = (values: Values) => { readonly values: Values; readonly result: Result }

interface Waiting<Values extends object> {
  readonly change: Change<Values, unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (cause: unknown) => void
}

/**
 * One shared row per tenant. A change starts from the values that this process wrote last, so it needs no read while no other process writes the
 * row. Changes that arrive during a write share the next one.
 */
export class SharedRow<Values extends object> {
  readonly #store: Pick<SharedRowStore, 'get' | 'replace'>
  readonly #name: string
  readonly #empty: Values
  readonly #cached = new BoundedCache<string, SharedRowState<Values>>(MAX_CACHED)
  readonly #waiting = new Map<string, Waiting<Values>[]>()

  /** `empty`: the values of a row that was never written. */
  constructor(store: Pick<SharedRowStore, 'get' | 'replace'>, name: string, empty: Values) {
    this.#store = store
    this.#name = name
    this.#empty = empty
  }

  /** The values as they are in the table. */
  async read(tenant: string): Promise<Values> {
    return (await this.#store.get<Values>(tenant, this.#name)).values ?? this.#empty
  }

  /** Applies the change exactly once. Throws when the row cannot be written. */
  change<Result>(tenant: string, change: Change<Values, Result>): Promise<Result> {
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
        const changes = batch.map(({ change }) => change)
        const results = await changeByCompareAndSet(
          () => this.#write(tenant, changes),
          () => new Error(`The row ${this.#name} of tenant ${tenant} changed during every attempt to change it. The step is retried.`),
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

  async #write(tenant: string, changes: readonly Change<Values, unknown>[]): Promise<readonly unknown[] | undefined> {
    const cached = this.#cached.get(tenant)
    // After a failure of any kind the row decides.
    this.#cached.delete(tenant)
    const seen = cached ?? (await this.#store.get<Values>(tenant, this.#name))
    const before = seen.values ?? this.#empty
    let values = before
    const results = changes.map((change) => {
      const changed = change(values)
      values = changed.values
      return changed.result
    })
    // Another process may have written what would be changed.
    if (values === before) return cached === undefined ? results : undefined
    if (!(await this.#store.replace(tenant, this.#name, { ...seen, values }))) return undefined
    this.#cached.set(tenant, { revision: seen.revision + 1, values })
    return results
  }
}
