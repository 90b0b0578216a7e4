import { BoundedCache, readThrough } from '../../model/bounded-cache.ts'
import type { Clock } from '../../ports/clock.ts'
import type { TenantStore } from '../../ports/tenant-store.ts'
import { limitsOf, type TenantLimits } from '../../model/tenants/tenant-limits.ts'
import type { TenantPolicy } from '../../model/tenants/tenant.ts'

/** A changed policy takes effect in every process within this time, milliseconds. */
export const LIMITS_CACHE_MS = 10_000
const MAX_CACHED = 1_000

export interface LimitReader {
  of(tenant: string): Promise<TenantLimits>
  /** The whole policy; empty when there is none. */
  policyOf(tenant: string): Promise<TenantPolicy>
}

interface Known {
  readonly policy: TenantPolicy
  readonly limits: TenantLimits
}

/**
 * Reads a tenant's limits and caches them for ten seconds, so a busy tenant costs no read per call. `defaults`: those of this deployment, where they differ
 * from the general ones.
 */
export function createLimitReader(
  tenants: Pick<TenantStore, 'get' | 'getPlan'>,
  clock: Clock,
  defaults: Partial<TenantLimits> = {},
): LimitReader {
  const cache = new BoundedCache<string, Promise<Known>>(MAX_CACHED)
  const read = (tenant: string): Promise<Known> => {
    const now = clock.now()
    return readThrough(cache, tenant, { now, until: now + LIMITS_CACHE_MS, read: () => readPolicy(tenants, { tenant, defaults }) })
  }
  return {
    of: async (tenant) => (await read(tenant)).limits,
    policyOf: async (tenant) => (await read(tenant)).policy,
  }
}

/** A tenant's own limits replace those of its plan, which replace the defaults. */
async function readPolicy(
  tenants: Pick<TenantStore, 'get' | 'getPlan'>,
  { tenant, defaults }: { readonly tenant: string; readonly defaults: Partial<TenantLimits> },
): Promise<Known> {
  const policy = (await tenants.get(tenant))?.policy ?? {}
  const plan = policy.plan === undefined ? null : await tenants.getPlan(policy.plan)
  return { policy, limits: limitsOf({ ...defaults, ...plan?.limits, ...policy.limits }) }
}
