import type { SandboxStore } from '../../ports/sandbox-store.ts'

/** Sandboxes that hold a tenant's containers, or start for them. The value may be slightly stale. */
export async function countLive(sandboxes: Pick<SandboxStore, 'ofTenant'>, tenant: string): Promise<number> {
  return (await sandboxes.ofTenant(tenant)).filter(({ state }) => state !== 'stopping').length
}
