import { nextBlock, type AuditBlock, type AuditEntry } from '../../../model/audit/audit.ts'
import type { AuditStore } from '../../../ports/audit-store.ts'
import { BoundedCache } from '../../../model/bounded-cache.ts'
import { changeByCompareAndSet } from '../../../model/change-by-compare-and-set.ts'
import { absent, all, between, equals, startsWith } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'

const PREFIX = 'block#'
/** After every block: digits sort before it. */
const LAST = `${PREFIX}~`
const MAX_TENANTS = 10_000

const partitionOf = (tenant: string): string => rowKey(tenant, 'audit', 'log').pk
const sortKey = (seq: number): string => PREFIX + String(seq).padStart(12, '0')
const decode = (item: Item): AuditBlock => JSON.parse(String(item['block'])) as AuditBlock

/** A block is one item that is written once: its place is its number, and a place that is taken refuses the write. */
export function createAuditStore(items: Items): AuditStore {
  /** The last block that this process wrote, by tenant. */
  const known = new BoundedCache<string, AuditBlock>(MAX_TENANTS)
  const inPartition = (tenant: string) => all(equals('pk', partitionOf(tenant)), startsWith('sk', PREFIX))

  async function readLast(tenant: string): Promise<AuditBlock | null> {
    const [item] = (await items.query({ where: inPartition(tenant), descending: true, limit: 1 })).items
    return item === undefined ? null : decode(item)
  }

  return {
    async append(tenant, entries, now) {
      return changeByCompareAndSet(
        async () => {
          const last = known.get(tenant) ?? (await readLast(tenant))
          // After a failure of any kind the table decides.
          known.delete(tenant)
          const block = nextBlock(last, { tenant, entries, now })
          const isWritten = await items.put({ pk: partitionOf(tenant), sk: sortKey(block.seq), block: JSON.stringify(block) }, absent('pk'))
          if (!isWritten) return undefined
          known.set(tenant, block)
          return block
        },
        () => new Error(`The audit log of tenant ${tenant} grew during every attempt to append to it.`),
      )
    },
    async recent(tenant, limit) {
      const found: AuditEntry[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({ where: inPartition(tenant), descending: true, limit: limit - found.length, startKey })
        for (const item of page.items) found.push(...decode(item).entries.toReversed())
        startKey = page.lastKey
      } while (startKey !== undefined && found.length < limit)
      return found.slice(0, limit)
    },
    async *blocks(tenant, after = 0) {
      const where = all(equals('pk', partitionOf(tenant)), between('sk', sortKey(after + 1), LAST))
      let startKey: Item | undefined
      do {
        const page = await items.query({ where, startKey })
        for (const item of page.items) yield decode(item)
        startKey = page.lastKey
      } while (startKey !== undefined)
    },
  }
}
