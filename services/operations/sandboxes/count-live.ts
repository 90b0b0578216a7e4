import type { SandboxStore } from '../../ports/sandbox-store.ts'

/** Sandboxes that hold a tenant's containers in memory, or start for them. The value may be slightly stale. */
export async function countLive(sandboxes: Pick<SandboxStore, 'ofTenant'>, tenant: string): Promise<number> {
  return (await sandboxes.ofTenant(tenant)).filter(({ state }) => state !== 'stopping' && state !== 'suspended').length
}

/** Bytes of the checkpoints of a tenant's suspended sandboxes. */
export async function countCheckpointBytes(sandboxes: Pick<SandboxStore, 'ofTenant'>, tenant: string): Promise<number> {
  const held = await sandboxes.ofTenant(tenant)
  return held.reduce((sum, { state, checkpoint }) => sum + (state === 'suspended' ? (checkpoint?.bytes ?? 0) : 0), 0)
}
