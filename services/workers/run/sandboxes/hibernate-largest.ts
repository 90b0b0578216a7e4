import { isBusy } from '../../../model/containers/container.ts'
import { TIERS } from '../../../model/limits.ts'
import type { Sandbox } from '../../../model/sandboxes/sandbox.ts'
import { claimedByTenant } from '../../../operations/sandboxes/claimed-by-tenant.ts'
import type { RunDeps } from '../../deps.ts'

/** A container that was used this recently is not idle, milliseconds: its next call is probably under way. */
const MIN_IDLE_MS = 10_000

/** What one tenant's sandboxes may use of the machine. */
interface Holding {
  readonly tenant: string
  readonly memoryBytes: number
  readonly containerIds: readonly string[]
}

/**
 * The machine has no memory for a sandbox of this tenant: requests the hibernation of the container that is idle for longest, of the tenant that holds most. A
 * tenant that holds less than the waiting one loses nothing. False: no container can hibernate.
 */
export async function hibernateLargest(
  { table, queue, clock }: Pick<RunDeps, 'table' | 'queue' | 'clock'>,
  waiting: string,
): Promise<boolean> {
  const now = clock.now()
  for (const { tenant, containerIds } of largestHoldings(await table.sandboxes.all(), waiting)) {
    const containers = await Promise.all(containerIds.map((id) => table.containers.get(tenant, id)))
    const awake = containers
      .filter((container) => container !== null)
      .filter(({ sandboxId, deletedAt }) => sandboxId !== null && deletedAt === null)
    // One at a time: its memory may suffice.
    if (awake.some(({ hibernating }) => hibernating !== null && hibernating.expiresAt > now)) return true
    const [idle] = awake
      .filter((container) => !isBusy(container) && now - container.lastActiveAt >= MIN_IDLE_MS)
      .toSorted((one, other) => one.lastActiveAt - other.lastActiveAt)
    if (idle === undefined) continue
    const message = { v: 1, type: 'container.hibernate', tenant, containerId: idle.id, idleSince: idle.lastActiveAt } as const
    await queue.send('executions', message, { group: tenant })
    return true
  }
  return false
}

/** The tenants that hold at least as much as the waiting one, the largest first. */
function largestHoldings(sandboxes: readonly Sandbox[], waiting: string): readonly Holding[] {
  const holdings = [...claimedByTenant(sandboxes)].map(([tenant, held]): Holding => ({
    tenant,
    memoryBytes: held.reduce((sum, { memoryTier }) => sum + TIERS[memoryTier].memoryBytes, 0),
    containerIds: held.map(({ claimedBy }) => claimedBy.containerId),
  }))
  const own = holdings.find(({ tenant }) => tenant === waiting)?.memoryBytes ?? 0
  return holdings.filter(({ memoryBytes }) => memoryBytes >= own).toSorted((one, other) => other.memoryBytes - one.memoryBytes)
}
