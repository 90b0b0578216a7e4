import type { Clock } from '../../ports/clock.ts'
import type { QuotaStore } from '../../ports/quota-store.ts'
import type { WebhookEndpoint } from '../../model/webhooks/webhook.ts'

/** All endpoints of a tenant are one small row, so that an end costs no query. */
const NAME = 'webhooks'
const MAX_ATTEMPTS = 8
/** A new endpoint receives events from every process within this time, milliseconds. */
const CACHE_MS = 5_000
const MAX_TENANTS = 10_000

interface Values {
  readonly endpoints: readonly WebhookEndpoint[]
}

/** Consistent. */
export const readEndpoints = async (quotas: QuotaStore, tenant: string): Promise<readonly WebhookEndpoint[]> =>
  (await quotas.get<Values>(tenant, NAME)).values?.endpoints ?? []

/** Applies a change by compare-and-set and returns its result. `apply` may run several times. */
export async function changeEndpoints<Result>(
  quotas: QuotaStore,
  tenant: string,
  apply: (endpoints: readonly WebhookEndpoint[]) => { readonly endpoints: readonly WebhookEndpoint[]; readonly result: Result },
): Promise<Result> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const seen = await quotas.get<Values>(tenant, NAME)
    const { endpoints, result } = apply(seen.values?.endpoints ?? [])
    if (await quotas.replace(tenant, NAME, seen, { endpoints })) return result
  }
  throw new Error(`The webhook endpoints of tenant ${tenant} changed during each of ${MAX_ATTEMPTS} attempts. Send the request again.`)
}

interface Cached {
  readonly endpoints: Promise<readonly WebhookEndpoint[]>
  readonly until: number
}
/** Per store: the end of an execution must not cost a read each time. */
const caches = new WeakMap<QuotaStore, Map<string, Cached>>()

/** As `readEndpoints`, up to five seconds old. */
export function cachedEndpoints(
  { table: { quotas }, clock }: { readonly table: { readonly quotas: QuotaStore }; readonly clock: Clock },
  tenant: string,
): Promise<readonly WebhookEndpoint[]> {
  const cache = caches.get(quotas) ?? new Map<string, Cached>()
  caches.set(quotas, cache)
  const now = clock.now()
  const known = cache.get(tenant)
  if (known !== undefined && known.until > now) return known.endpoints
  const endpoints = readEndpoints(quotas, tenant)
  endpoints.catch(() => cache.delete(tenant))
  if (cache.size >= MAX_TENANTS) cache.delete(cache.keys().next().value ?? tenant)
  cache.set(tenant, { endpoints, until: now + CACHE_MS })
  return endpoints
}
