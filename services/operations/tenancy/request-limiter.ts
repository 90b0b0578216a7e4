import { BoundedCache } from '../../model/bounded-cache.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import type { LimitReader } from './limit-reader.ts'
import { SharedRow } from './shared-row.ts'

/** A bucket holds the requests of this many seconds, so short bursts pass. */
const BURST_SECONDS = 2
/** A process takes the tokens of this time from the shared bucket at once, seconds, so it rarely reads storage and leaves the rest to other processes. */
const SHARE_SECONDS = 0.25
const MAX_TENANTS = 10_000

/** Null when the request may proceed, otherwise the limit that was reached. */
export type Refusal = { readonly limit: number; readonly retryAfterSeconds: number } | null

export interface RequestLimiter {
  take(tenant: string): Promise<Refusal>
}

interface Share {
  /** Tokens that this process took and has not used. */
  left: number
  /** No token is expected before this time, epoch ms. */
  emptyUntil: number
  /** Serializes this process's writes to the bucket. */
  refill: Promise<void> | null
}

export interface Bucket {
  readonly tokens: number
  /** Time of `tokens`, epoch ms. */
  readonly at: number
}

/** The bucket of a tenant without requests. */
export const FULL_BUCKET: Bucket = { tokens: Number.POSITIVE_INFINITY, at: 0 }

/** The bucket after `wanted` tokens were taken at `now`; `taken` is less when it holds less. `rate` in tokens per second. */
export function takeTokens(
  bucket: Bucket,
  { rate, wanted, now }: { readonly rate: number; readonly wanted: number; readonly now: number },
): { readonly taken: number; readonly bucket: Bucket } {
  const elapsedMs = Math.max(0, now - bucket.at)
  const tokens = Math.min(rate * BURST_SECONDS, bucket.tokens + (elapsedMs * rate) / 1000)
  const taken = Math.min(Math.floor(tokens), wanted)
  return { taken, bucket: { tokens: tokens - taken, at: Math.max(now, bucket.at) } }
}

/**
 * Requests per second of each tenant: one token bucket in the table for all processes, of which each takes small shares. When the table cannot be
 * reached, requests pass, because a limit must not cause an outage.
 */
export function createRequestLimiter(sharedRows: SharedRowStore, limits: Pick<LimitReader, 'of'>, clock: Clock): RequestLimiter {
  const buckets = new SharedRow(sharedRows, 'requests', FULL_BUCKET)
  const shares = new BoundedCache<string, Share>(MAX_TENANTS)

  async function refill(tenant: string, share: Share, rate: number): Promise<void> {
    const wanted = Math.max(1, Math.ceil(rate * SHARE_SECONDS))
    const { taken, emptyUntil } = await buckets.change(tenant, (values) => {
      const now = clock.now()
      const { taken, bucket } = takeTokens(values, { rate, wanted, now })
      return taken === 0
        ? { values, result: { taken, emptyUntil: now + Math.max(1, ((1 - bucket.tokens) * 1000) / rate) } }
        : { values: bucket, result: { taken, emptyUntil: 0 } }
    })
    share.left += taken
    share.emptyUntil = emptyUntil
  }

  return {
    async take(tenant) {
      const { requestsPerSecond: rate } = await limits.of(tenant)
      const share = shares.getOrCreate(tenant, () => ({ left: 0, emptyUntil: 0, refill: null }))
      while (share.left < 1) {
        const waitMs = share.emptyUntil - clock.now()
        if (waitMs > 0) return { limit: rate, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) }
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
