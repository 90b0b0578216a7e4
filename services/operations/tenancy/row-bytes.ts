import { BoundedCache } from '../../model/bounded-cache.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import { SharedRow } from './shared-row.ts'

/** A process writes the row of a tenant when so many bytes were added or removed since it wrote last. A killed process loses at most these. */
const FLUSH_BYTES = 64 * 1024
const MAX_TENANTS = 10_000
const ROW_NAME = 'rowBytes'

/** How many bytes the rows of each tenant have. No index lists all rows of a tenant, so every write and every removal is added up. */
export class RowBytes {
  readonly #rows: SharedRow<{ readonly bytes: number }>
  readonly #pending = new BoundedCache<string, { bytes: number }>(MAX_TENANTS)

  constructor(sharedRows: SharedRowStore) {
    this.#rows = new SharedRow(sharedRows, ROW_NAME, { bytes: 0 })
  }

  /** Adds bytes, or subtracts removed ones. While storage fails they wait for the next write. */
  async add(tenant: string, bytes: number): Promise<void> {
    const pending = this.#pendingOf(tenant)
    pending.bytes += bytes
    if (Math.abs(pending.bytes) >= FLUSH_BYTES) await this.#flush(tenant).catch(() => undefined)
  }

  async of(tenant: string): Promise<number> {
    return Math.max(0, await this.#flush(tenant))
  }

  async #flush(tenant: string): Promise<number> {
    const pending = this.#pendingOf(tenant)
    const moved = pending.bytes
    pending.bytes = 0
    try {
      return await this.#rows.change(tenant, (values) => {
        const bytes = values.bytes + moved
        return { values: moved === 0 ? values : { bytes }, result: bytes }
      })
    } catch (cause) {
      pending.bytes += moved
      throw cause
    }
  }

  #pendingOf(tenant: string): { bytes: number } {
    return this.#pending.getOrCreate(tenant, () => ({ bytes: 0 }))
  }
}
