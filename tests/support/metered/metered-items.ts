import type { Items } from '../../../services/adapters/storage/rows/items.ts'
import { tenantShard, type ItemKey } from '../../../services/adapters/storage/rows/keys.ts'
import type { Item } from '../../../services/adapters/storage/rows/row-codec.ts'
import { tableDefinition } from '../../../services/adapters/storage/dynamodb/table-definition.ts'

/** Units that DynamoDB bills on demand. */
export interface BilledUnits {
  writes: number
  reads: number
}

type Attributes = Readonly<Record<string, unknown>>

/** Rows whose calls are billed as DynamoDB documents it: a write per KB of the larger version and per changed index entry, a read per 4 KB. */
export function meteredItems(items: Items, billed: BilledUnits): Items {
  const read = (rows: readonly (Item | null)[], share = 1): void => {
    const bytes = rows.reduce((sum, row) => sum + (row === null ? 0 : sizeOf(row)), 0)
    billed.reads += share * Math.max(1, Math.ceil(bytes / 4096))
  }
  const wrote = (before: Item | null, after: Item | null): void => void (billed.writes += writeUnits(before, after))
  return {
    ...items,
    async get(key, options) {
      const row = await items.get(key, options)
      read([row], options?.mayLag === true ? 0.5 : 1)
      return row
    },
    async put(item, ...rest) {
      const before = await items.get(keyOf(item))
      const isWritten = await items.put(item, ...rest)
      wrote(before, isWritten ? item : before)
      return isWritten
    },
    async update(key, ...rest) {
      const before = await items.get(key)
      const after = await items.update(key, ...rest)
      wrote(before, after ?? before)
      return after
    },
    async delete(key) {
      const before = await items.delete(key)
      wrote(before, null)
      return before
    },
    async query(request) {
      const page = await items.query(request)
      read(page.items, request.index === undefined ? 1 : 0.5)
      return page
    },
    async getMany(keys) {
      const rows = await items.getMany(keys)
      for (const row of rows) read([row])
      return rows
    },
    async writeMany(changes) {
      const before = await items.getMany(changes.map((change) => ('put' in change ? keyOf(change.put) : change.delete)))
      await items.writeMany(changes)
      for (const [place, change] of changes.entries()) wrote(before[place] ?? null, 'put' in change ? change.put : null)
    },
    ofTenant: (...request) => items.ofTenant(...request),
    flush: () => items.flush(),
  }
}

/** Writes of the row and of each index whose entry changes; a changed index key removes an entry and adds one. */
function writeUnits(before: Item | null, after: Item | null): number {
  const row = Math.max(1, kilobytes(before), kilobytes(after))
  return tableDefinition.indexes.reduce((sum, index) => {
    const [old, now] = [entryOf(index, before), entryOf(index, after)]
    if (old === null || now === null) return sum + kilobytes(old) + kilobytes(now)
    const isMoved = [index.partitionKey.name, index.sortKey.name].some((name) => old[name] !== now[name])
    if (isMoved) return sum + kilobytes(old) + kilobytes(now)
    return JSON.stringify(old) === JSON.stringify(now) ? sum : sum + Math.max(kilobytes(old), kilobytes(now))
  }, row)
}

/** What an index has of a row; null when the row lacks one of its keys. */
function entryOf({ partitionKey, sortKey, projection }: (typeof tableDefinition.indexes)[number], row: Item | null): Attributes | null {
  const stored = storedOf(row)
  if (stored === null || stored[partitionKey.name] === undefined || stored[sortKey.name] === undefined) return null
  if (projection === 'ALL') return stored
  const names = ['pk', 'sk', partitionKey.name, sortKey.name, ...projection]
  return Object.fromEntries(Object.entries(stored).filter(([name]) => names.includes(name)))
}

/** The row with its place in the index of tenants. */
function storedOf(row: Item | null): Attributes | null {
  const shard = row === null ? null : tenantShard(String(row['pk']))
  return shard === null ? row : { ...row, tenantShard: shard }
}

const kilobytes = (row: Attributes | null): number => (row === null ? 0 : Math.ceil(sizeOf(row) / 1024))

/** Names and values, as DynamoDB counts them. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number') return 1 + Math.ceil(String(value).length / 2)
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + 1 + sizeOf(each), 3)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).reduce(
      (sum, [name, each]) => sum + (each === undefined ? 0 : 1 + Buffer.byteLength(name) + sizeOf(each)),
      3,
    )
  return 1
}

const keyOf = ({ pk, sk }: Item): ItemKey => ({ pk: String(pk), sk: String(sk) })
