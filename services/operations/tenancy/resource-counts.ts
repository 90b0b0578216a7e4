import { tenantObjects } from '../../model/object-keys.ts'
import type { Container } from '../../model/containers/container.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ContainerStore } from '../../ports/container-store.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'
import { countCheckpointBytes, countLive } from '../sandboxes/count-live.ts'
import type { LimitReader } from './limit-reader.ts'
import { ResourceCount } from './resource-count.ts'
import { RowBytes } from './row-bytes.ts'

/** What tenants have of the resources with a limit per tenant. */
export interface ResourceCounts {
  readonly liveContainers: ResourceCount
  readonly queuedJobs: ResourceCount
  readonly containers: ResourceCount
  /** Objects, rows and checkpoints. */
  readonly storageBytes: ResourceCount
  readonly rowBytes: RowBytes
}

export function createResourceCounts({
  table,
  objects,
  limits,
  clock,
}: {
  readonly table: Pick<Table, 'sharedRows' | 'sandboxes' | 'containers'>
  readonly objects: ObjectStore
  readonly limits: Pick<LimitReader, 'of'>
  readonly clock: Clock
}): ResourceCounts {
  const rowBytes = new RowBytes(table.sharedRows)
  const create = (name: Exclude<keyof ResourceCounts, 'rowBytes'>, count: (tenant: string) => Promise<number>): ResourceCount =>
    new ResourceCount({ sharedRows: table.sharedRows, clock, name, limitOf: async (tenant) => (await limits.of(tenant))[name], count })
  return {
    liveContainers: create('liveContainers', (tenant) => countLive(table.sandboxes, tenant)),
    queuedJobs: create('queuedJobs', (tenant) => countQueued(table.containers, tenant)),
    containers: create('containers', (tenant) => countContainers(table.containers, tenant)),
    storageBytes: create('storageBytes', async (tenant) => {
      const stored = (await objects.sizeOf(tenantObjects(tenant))) + (await rowBytes.of(tenant))
      return stored + (await countCheckpointBytes(table.sandboxes, tenant))
    }),
    rowBytes,
  }
}

/** Executions and commands in the foreground that have not ended. */
async function countQueued(containers: Pick<ContainerStore, 'list'>, tenant: string): Promise<number> {
  let queued = 0
  for await (const { queue, commands = [] } of containersOf(containers, tenant)) queued += new Set([...queue, ...commands]).size
  return queued
}

async function countContainers(containers: Pick<ContainerStore, 'list'>, tenant: string): Promise<number> {
  let count = 0
  for (const isSnapshot of [false, true])
    for await (const { id } of containersOf(containers, tenant, isSnapshot)) count += id.length > 0 ? 1 : 0
  return count
}

async function* containersOf(containers: Pick<ContainerStore, 'list'>, tenant: string, isSnapshot = false): AsyncGenerator<Container> {
  for (let after: string | null = null; ;) {
    const { rows, hasMore } = await containers.list(tenant, { after, limit: 100, order: 'asc', name: null, isSnapshot })
    yield* rows
    after = rows.at(-1)?.id ?? null
    if (!hasMore || after === null) return
  }
}
