import { createHash } from 'node:crypto'

/** Sandboxes belong to no tenant until they are claimed. */
export const POOL_TENANT = '_pool'

/** One partition of a DynamoDB index accepts 1,000 writes per second, so the due rows, and those of a tenant, are spread over several. */
const SHARDS = 8

export type RowName =
  | 'container'
  | 'execution'
  | 'input'
  | 'response'
  | 'sandbox'
  | 'tenant'
  | 'idempotency'
  | 'link'
  | 'file'
  | 'skill'
  | 'upload'
  | 'conversation'
  | 'usage'
  | 'quota'
  | 'plan'
  | 'delivery'
  | 'audit'
  | 'secret'
  | 'network'
export interface ItemKey {
  readonly pk: string
  readonly sk: string
}

const WELL_FORMED = /^[A-Za-z0-9._-]{1,200}$/
/** Ids come from clients. An id that no row can have is hashed, so it matches no row and cannot become part of another key. */
export const part = (value: string): string => (WELL_FORMED.test(value) ? value : `~${createHash('sha256').update(value).digest('hex')}`)

/** Every row of a tenant has a partition key that begins with this. */
export const tenantPrefix = (tenant: string): string => `T#${part(tenant)}#`

export const rowKey = (tenant: string, name: RowName, id: string): ItemKey => ({ pk: `T#${part(tenant)}#${name}#${part(id)}`, sk: 'row' })
export const fileKey = (tenant: string, containerId: string, id: string): ItemKey => ({
  pk: rowKey(tenant, 'container', containerId).pk,
  sk: `${FILE_PREFIX}${part(id)}`,
})
export const partKey = (tenant: string, uploadId: string, id: string): ItemKey => ({
  pk: rowKey(tenant, 'upload', uploadId).pk,
  sk: `${PART_PREFIX}${part(id)}`,
})
/** Records of one day share a partition; `day` is not user input. */
export const usageKey = (tenant: string, day: string, executionId: string): ItemKey => ({
  pk: rowKey(tenant, 'usage', day).pk,
  sk: `${USAGE_PREFIX}${part(executionId)}`,
})
export const USAGE_PREFIX = 'use#'
export const PART_PREFIX = 'part#'
/** `position` is not user input and sorts as text. */
export const itemKey = (tenant: string, conversationId: string, position: string): ItemKey => ({
  pk: rowKey(tenant, 'conversation', conversationId).pk,
  sk: `${ITEM_PREFIX}${position}`,
})
export const ITEM_PREFIX = 'item#'
export const FILE_PREFIX = 'file#'

export const EVENT_PREFIX = 'ev#'
export const eventSortKey = (firstSeq: number): string => EVENT_PREFIX + String(firstSeq).padStart(12, '0')

/** Global items, found by a hash before the tenant is known. */
export const apiKeyKey = (hash: string): ItemKey => ({ pk: `K#${part(hash)}`, sk: 'row' })
export const linkKey = (tokenHash: string): ItemKey => ({ pk: `L#${part(tokenHash)}`, sk: 'row' })

/** Partition of the `list` index. */
export const listPartition = (
  tenant: string,
  what:
    | 'containers'
    | 'snapshots'
    | 'executions'
    | 'commands'
    | 'file'
    | 'files'
    | 'skills'
    | 'conversations'
    | 'conversation-items'
    | 'links'
    | 'deliveries',
  of?: string,
): string => `T#${part(tenant)}#${what}${of === undefined ? '' : `#${part(of)}`}`
/** Orders a list by time of creation; the id makes it unique. */
export const listSortKey = (createdAt: number, id: string): string => `${String(createdAt).padStart(15, '0')}#${part(id)}`

/** Partition of the `due` index in which a row always is. */
export const dueShard = (pk: string): string => `D#${shardOf(pk)}`
export const allDueShards = (): readonly string[] => Array.from({ length: SHARDS }, (_, shard) => `D#${shard}`)

/** Partition of the `tenant` index with a row of a tenant; null for the service's own rows. */
export const tenantShard = (pk: string): string | null =>
  pk.startsWith('T#') && !pk.startsWith('T#_') ? `${pk.split('#', 2).join('#')}#${shardOf(pk)}` : null
export const allTenantShards = (tenant: string): readonly string[] =>
  Array.from({ length: SHARDS }, (_, shard) => `${tenantPrefix(tenant)}${shard}`)

const shardOf = (pk: string): number => createHash('md5').update(pk).digest().readUInt32BE(0) % SHARDS

/** The parts of a row's partition key. */
export function parseRowKey(pk: string): { readonly tenant: string; readonly name: string; readonly id: string } {
  const [prefix, tenant, name, id] = pk.split('#')
  if (prefix !== 'T' || tenant === undefined || name === undefined || id === undefined) throw new Error(`"${pk}" is not the key of a row.`)
  return { tenant, name, id }
}
