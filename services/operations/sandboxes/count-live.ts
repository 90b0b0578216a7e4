import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { SandboxStore } from '../../ports/sandbox-store.ts'

/** One whose processes are in a checkpoint, or are being copied from one, uses no memory. */
const usesMemory = ({ state, checkpoint }: Sandbox): boolean =>
  state !== 'stopping' && state !== 'suspended' && !(state === 'suspending' && checkpoint?.copyOf !== undefined)

/** Sandboxes that hold a tenant's containers in memory, or start for them. The value may be slightly stale. */
export async function countLive(sandboxes: Pick<SandboxStore, 'ofTenant'>, tenant: string): Promise<number> {
  return (await sandboxes.ofTenant(tenant)).filter(usesMemory).length
}

/** Bytes of the checkpoints of a tenant's suspended sandboxes. */
export async function countCheckpointBytes(sandboxes: Pick<SandboxStore, 'ofTenant'>, tenant: string): Promise<number> {
  const held = await sandboxes.ofTenant(tenant)
  return held.reduce((sum, { state, checkpoint }) => sum + (state === 'suspended' ? (checkpoint?.bytes ?? 0) : 0), 0)
}
