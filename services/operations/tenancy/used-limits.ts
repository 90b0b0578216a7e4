import type { Clock } from '../../ports/clock.ts'
import type { Table } from '../../ports/table.ts'
import type { TenantLimits } from '../../model/tenants/tenant-limits.ts'
import { dayOf, sumUsage } from '../../model/usage/usage.ts'
import { countLive } from '../sandboxes/count-live.ts'
import type { Holds } from './hold.ts'
import type { ResourceCounts } from './resource-counts.ts'

/** What of a tenant's limits is used now or today. Containers, jobs and bytes are upper bounds. Absent where a limit is counted per call. */
export async function usedLimits(
  {
    table,
    counts,
    holds,
    clock,
  }: {
    readonly table: Pick<Table, 'sandboxes' | 'usage'>
    readonly counts: ResourceCounts
    readonly holds: Pick<Holds, 'used'>
    readonly clock: Clock
  },
  tenant: string,
): Promise<Partial<Record<keyof TenantLimits, number>>> {
  const [liveContainers, containers, queuedJobs, storageBytes, { own: openStreams }, records] = await Promise.all([
    countLive(table.sandboxes, tenant),
    counts.containers.bound(tenant),
    counts.queuedJobs.bound(tenant),
    counts.storageBytes.bound(tenant),
    holds.used(tenant),
    table.usage.ofDay(tenant, dayOf(clock.now())),
  ])
  const today = sumUsage(records)
  return {
    liveContainers,
    containers,
    queuedJobs,
    storageBytes,
    openStreams,
    sandboxSecondsPerDay: today.sandboxSeconds,
    dollarsPerDay: today.costUsd,
    modelTokensPerDay: today.modelInputTokens + today.modelOutputTokens,
  }
}
