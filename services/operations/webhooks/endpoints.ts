import { BoundedCache, readThrough } from '../../model/bounded-cache.ts'
import { changeByCompareAndSet } from '../../model/change-by-compare-and-set.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import type { WebhookEndpoint } from '../../model/webhooks/webhook.ts'

/** All endpoints of a tenant are one small row, so that an end costs no query. */
const NAME = 'webhooks'
/** A new endpoint receives events from every process within this time, milliseconds. */
const CACHE_MS = 5_000
const MAX_TENANTS = 10_000

interface Values {
  readonly endpoints: readonly WebhookEndpoint[]
}

/** Consistent. */
export const readEndpoints = async (sharedRows: SharedRowStore, tenant: string): Promise<readonly WebhookEndpoint[]> =>
  (await sharedRows.get<Values>(tenant, NAME)).values?.endpoints ?? []

/** Applies a change by compare-and-set and returns its result. `apply` may run several times. */
export async function changeEndpoints<Result>(
  sharedRows: SharedRowStore,
  tenant: string,
  apply: (endpoints: readonly WebhookEndpoint[]) => { readonly endpoints: readonly WebhookEndpoint[]; readonly result: Result },
): Promise<Result> {
  const done = await changeByCompareAndSet(
    async () => {
      const seen = await sharedRows.get<Values>(tenant, NAME)
      const { endpoints, result } = apply(seen.values?.endpoints ?? [])
      return (await sharedRows.replace(tenant, NAME, { ...seen, values: { endpoints } })) ? { result } : undefined
    },
    () => new Error(`The webhook endpoints of tenant ${tenant} changed during every attempt to change them. Send the request again.`),
  )
  return done.result
}

/** Per store: the end of an execution must not cost a read each time. */
const caches = new WeakMap<SharedRowStore, BoundedCache<string, Promise<readonly WebhookEndpoint[]>>>()

interface Ports {
  readonly table: { readonly sharedRows: SharedRowStore }
  readonly clock: Clock
}

/** As `readEndpoints`, up to five seconds old. */
export function cachedEndpoints({ table: { sharedRows }, clock }: Ports, tenant: string): Promise<readonly WebhookEndpoint[]> {
  const cache = caches.get(sharedRows) ?? new BoundedCache(MAX_TENANTS)
  caches.set(sharedRows, cache)
  const now = clock.now()
  return readThrough(cache, tenant, { now, until: now + CACHE_MS, read: () => readEndpoints(sharedRows, tenant) })
}

/** An endpoint, up to five seconds old: each delivery reads it. Null when it was deleted; one that the cache lacks is read. */
export async function findEndpoint(ports: Ports, tenant: string, id: string): Promise<WebhookEndpoint | null> {
  const inList = (endpoints: readonly WebhookEndpoint[]) => endpoints.find((one) => one.id === id) ?? null
  return inList(await cachedEndpoints(ports, tenant)) ?? inList(await readEndpoints(ports.table.sharedRows, tenant))
}
