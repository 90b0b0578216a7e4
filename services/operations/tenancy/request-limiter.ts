import { BoundedCache } from '../../model/bounded-cache.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import type { LimitReader } from './limit-reader.ts'

/** Requests are counted in windows of this length, so short bursts pass. */
const WINDOW_MS = 2_000
/**
 * Shares of a window. A process takes one at once, so it rarely reads storage and leaves the rest to other processes. Where a process serves one call at a
 * time there are many processes, and a large share would be lost in each.
 */
const SHARES = { fewProcesses: 8, manyProcesses: 1_000 } as const
const MAX_TENANTS = 10_000

/** Null when the request may proceed, otherwise the limit that was reached. */
export type Refusal = { readonly limit: number; readonly retryAfterSeconds: number } | null

export interface RequestLimiter {
  take(tenant: string): Promise<Refusal>
}

/** What this process has of a tenant's window. */
interface Share {
  window: number
  left: number
  /** No share of this window is left. */
  isEmpty: boolean
  /** Serializes this process's writes. */
  refill: Promise<void> | null
}

/**
 * Requests per second of each tenant: one counter in the table for all processes, which a process increments without reading it. When the table cannot be
 * reached, requests pass, because a limit must not cause an outage.
 */
export function createRequestLimiter(
  sharedRows: Pick<SharedRowStore, 'count'>,
  limits: Pick<LimitReader, 'of'>,
  { clock, processes = 'fewProcesses' }: { readonly clock: Clock; readonly processes?: keyof typeof SHARES },
): RequestLimiter {
  const shares = new BoundedCache<string, Share>(MAX_TENANTS)

  async function refill(tenant: string, share: Share, rate: number): Promise<void> {
    const { window } = share
    const inWindow = (rate * WINDOW_MS) / 1000
    const size = Math.ceil(inWindow / SHARES[processes])
    const isTaken = await sharedRows.count(tenant, 'requests', { window, max: Math.floor(inWindow / size) })
    if (share.window !== window) return
    if (isTaken) share.left += size
    else share.isEmpty = true
  }

  return {
    async take(tenant) {
      const { requestsPerSecond: rate } = await limits.of(tenant)
      const share = shares.getOrCreate(tenant, () => ({ window: 0, left: 0, isEmpty: false, refill: null }))
      for (;;) {
        const now = clock.now()
        const window = Math.floor(now / WINDOW_MS)
        if (share.window !== window) Object.assign(share, { window, left: 0, isEmpty: false })
        if (share.left > 0) break
        if (share.isEmpty) return { limit: rate, retryAfterSeconds: Math.ceil(((window + 1) * WINDOW_MS - now) / 1000) }
        try {
          await (share.refill ??= refill(tenant, share, rate).finally(() => (share.refill = null)))
        } catch {
          return null
        }
      }
      share.left -= 1
      return null
    },
  }
}
