import type { MemoryTier } from '../model/limits.ts'
import type { Sandbox, SandboxPhase } from '../model/sandboxes/sandbox.ts'

export interface SandboxStore {
  create(sandbox: Sandbox): Promise<boolean>
  get(id: string): Promise<Sandbox | null>
  /** One conditional write: `ready` becomes `claimed`. Null when another worker claimed it first. */
  claim(
    id: string,
    by: { tenant: string; containerId: string },
    times: { readonly now: number; readonly dueAt: number },
  ): Promise<Sandbox | null>
  /** One conditional write: an unclaimed sandbox in state `starting` will become `claimed` instead of `ready`. Null when another worker was first. */
  reserve(id: string, by: { tenant: string; containerId: string }, now: number): Promise<Sandbox | null>
  /** Applies the change if the state is one of `from` and, with `unclaimed`, if the sandbox is neither claimed nor reserved. */
  move(
    id: string,
    expected: { readonly from: readonly SandboxPhase[]; readonly unclaimed?: boolean },
    change: Partial<
      Pick<
        Sandbox,
        | 'state'
        | 'address'
        | 'readyAt'
        | 'answeredAt'
        | 'image'
        | 'protocol'
        | 'claimedBy'
        | 'claimedAt'
        | 'platformId'
        | 'launchedAt'
        | 'failedStart'
        | 'checkpoint'
        | 'resumedAt'
        | 'dueAt'
      >
    >,
  ): Promise<Sandbox | null>
  /** Unclaimed ready sandboxes of a tier, oldest first. Eventually consistent; the claim decides. */
  ready(tier: MemoryTier, limit: number): Promise<readonly Sandbox[]>
  /** Sandboxes of a tier that start for the pool and that no container has reserved, oldest first. Eventually consistent. */
  starting(tier: MemoryTier, limit: number): Promise<readonly Sandbox[]>
  /** Every sandbox that is not gone. */
  all(): Promise<readonly Sandbox[]>
  /** Those that containers of a tenant hold, or that start for them. Eventually consistent; reads no row of other tenants' sandboxes. */
  ofTenant(tenant: string): Promise<readonly Sandbox[]>
  remove(id: string): Promise<void>
}
