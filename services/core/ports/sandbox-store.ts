import type { MemoryTier } from '../limits.ts'
import type { Sandbox, SandboxPhase } from '../sandboxes/sandbox.ts'

export interface SandboxStore {
  create(sandbox: Sandbox): Promise<boolean>
  get(id: string): Promise<Sandbox | null>
  /** One conditional write: `ready` becomes `claimed`. Null when somebody was faster. */
  claim(id: string, by: { tenant: string; containerId: string }, now: number, dueAt: number): Promise<Sandbox | null>
  /** One conditional write: an unclaimed one that is still `starting` will be `claimed` instead of `ready`. Null when somebody was faster. */
  reserve(id: string, by: { tenant: string; containerId: string }, now: number): Promise<Sandbox | null>
  /** Applies the change if the state is one of `from` and, with `unclaimed`, if nobody claimed or reserved it. */
  move(
    id: string,
    from: readonly SandboxPhase[],
    change: Partial<
      Pick<
        Sandbox,
        'state' | 'address' | 'readyAt' | 'answeredAt' | 'image' | 'protocol' | 'claimedBy' | 'claimedAt' | 'failedStart' | 'dueAt'
      >
    >,
    options?: { readonly unclaimed?: boolean },
  ): Promise<Sandbox | null>
  /** Unclaimed and ready ones of a tier, oldest first. May lag behind; the claim decides. */
  ready(tier: MemoryTier, limit: number): Promise<readonly Sandbox[]>
  /** Every sandbox that is not gone. */
  all(): Promise<readonly Sandbox[]>
  remove(id: string): Promise<void>
}
