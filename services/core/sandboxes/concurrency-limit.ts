import type { SandboxStore } from '../ports/sandbox-store.ts'
import { DEFAULT_LIMITS, type TenantLimits } from '../tenants/tenant-limits.ts'

/** Sandboxes that hold a tenant's containers, or start for them. The value may be slightly stale. */
export async function countLive(sandboxes: Pick<SandboxStore, 'all'>, tenant: string): Promise<number> {
  return (await sandboxes.all()).filter(({ claimedBy, state }) => claimedBy?.tenant === tenant && state !== 'stopping').length
}

/** Whether the tenant may start no further sandbox. The default limit is never reached, so it needs no count. */
export const atConcurrencyLimit = async (
  sandboxes: Pick<SandboxStore, 'all'>,
  tenant: string,
  limits: Pick<TenantLimits, 'liveContainers'>,
): Promise<boolean> =>
  limits.liveContainers < DEFAULT_LIMITS.liveContainers && (await countLive(sandboxes, tenant)) >= limits.liveContainers
