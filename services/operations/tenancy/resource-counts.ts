import { tenantObjects } from '../../model/object-keys.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ContainerStore } from '../../ports/container-store.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'
import { countLive } from '../sandboxes/count-live.ts'
import type { LimitReader } from './limit-reader.ts'
import { ResourceCount } from './resource-count.ts'

/** What tenants have of the resources with a limit per tenant. */
export interface ResourceCounts {
  readonly liveContainers: ResourceCount
  readonly queuedJobs: ResourceCount
  readonly storageBytes: ResourceCount
}

export function createResourceCounts({
  table,
  objects,
  limits,
  clock,
}: {
  readonly table: Table
  readonly objects: ObjectStore
  readonly limits: Pick<LimitReader, 'of'>
  readonly clock: Clock
}): ResourceCounts {
  const create = (name: keyof ResourceCounts, count: (tenant: string) => Promise<number>): ResourceCount =>
    new ResourceCount({ sharedRows: table.sharedRows, clock, name, limitOf: async (tenant) => (await limits.of(tenant))[name], count })
  return {
    liveContainers: create('liveContainers', (tenant) => countLive(table.sandboxes, tenant)),
    queuedJobs: create('queuedJobs', (tenant) => countQueued(table.containers, tenant)),
    storageBytes: create('storageBytes', (tenant) => objects.sizeOf(tenantObjects(tenant))),
  }
}

/** Executions and commands in the foreground that have not ended. */
async function countQueued(containers: Pick<ContainerStore, 'list'>, tenant: string): Promise<number> {
  let queued = 0
  for (let after: string | null = null; ;) {
    const { rows, hasMore } = await containers.list(tenant, { after, limit: 100, order: 'asc', name: null })
    for (const { queue, commands = [] } of rows) queued += new Set([...queue, ...commands]).size
    after = rows.at(-1)?.id ?? null
    if (!hasMore || after === null) return queued
  }
}
