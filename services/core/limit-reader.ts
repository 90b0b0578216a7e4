import type { Clock } from './ports/clock.ts'
import type { TenantStore } from './ports/table.ts'
import { limitsOf, type TenantLimits } from './tenant-limits.ts'

/** A changed policy holds everywhere after this long, milliseconds. */
export const LIMITS_CACHE_MS = 10_000
const MAX_CACHED = 1_000

export interface LimitReader {
  of(tenant: string): Promise<TenantLimits>
}

/** Reads what a tenant may use. An answer is believed for ten seconds, so a busy tenant costs no read per call. */
export function createLimitReader(tenants: Pick<TenantStore, 'get'>, clock: Clock): LimitReader {
  const known = new Map<string, { readonly limits: Promise<TenantLimits>; readonly until: number }>()
  return {
    of: (tenant) => {
      const now = clock.now()
      const cached = known.get(tenant)
      if (cached !== undefined && cached.until > now) return cached.limits
      const limits = tenants.get(tenant).then((row) => limitsOf(row?.policy?.limits))
      // A failed read is no answer: the next call asks again.
      limits.catch(() => known.delete(tenant))
      if (known.size >= MAX_CACHED) known.delete(known.keys().next().value ?? tenant)
      known.set(tenant, { limits, until: now + LIMITS_CACHE_MS })
      return limits
    },
  }
}
