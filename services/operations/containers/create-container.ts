import { firstRetentionCheck } from '../../model/tenants/retention.ts'
import type { Container } from '../../model/containers/container.ts'
import { newId } from '../../model/ids.ts'
import { LIMITS, type MemoryTier } from '../../model/limits.ts'
import { isEmptyPolicy, type NetworkPolicy } from '../../model/network/policy.ts'
import type { Table } from '../../ports/table.ts'
import type { ContainerLimits } from '../../model/tenants/tenant-limits.ts'

export interface NewContainer {
  readonly tenant: string
  readonly subject: string | null
  readonly name: string
  readonly memoryTier: MemoryTier
  readonly image?: string
  readonly expiresAfterMinutes?: number
  readonly limits?: ContainerLimits
  /** What its code may reach (`services/operations/network/new-policy.ts`); absent: nothing. */
  readonly network?: NetworkPolicy
  /** Set by callers whose step may be repeated, so that the repetition creates no second container. */
  readonly id?: string
}

/** Creates the row only: a sandbox starts when code first runs. */
export async function createContainer(table: Pick<Table, 'containers'>, wanted: NewContainer, now: number): Promise<Container> {
  const container: Container = {
    v: 1,
    tenant: wanted.tenant,
    subject: wanted.subject,
    id: wanted.id ?? newId('container'),
    name: wanted.name,
    createdAt: now,
    lastActiveAt: now,
    expiresAfterMinutes: wanted.expiresAfterMinutes ?? LIMITS.defaultIdleMinutes,
    memoryTier: wanted.memoryTier,
    image: wanted.image ?? null,
    limits: wanted.limits ?? null,
    ...(wanted.network !== undefined && !isEmptyPolicy(wanted.network) && { network: wanted.network }),
    queue: [],
    sandboxId: null,
    generation: 0,
    filesVersion: 0,
    syncedFilesVersion: 0,
    stateLost: null,
    snapshot: null,
    hibernating: null,
    deletedAt: null,
    // A container that is never used expires as well.
    dueAt: firstRetentionCheck(now),
  }
  await table.containers.create(container)
  return container
}
