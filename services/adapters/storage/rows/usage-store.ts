import type { UsageStore } from '../../../ports/usage-store.ts'
import type { UsageRecord } from '../../../model/usage/usage.ts'
import { all, equals, startsWith } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey, USAGE_PREFIX, usageKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { usageCodec } from './row-shapes.ts'

/** Records are kept for this time, seconds, so that a year can be compared with the previous one. */
const KEPT_SECONDS = 400 * 86_400

export function createUsageStore(items: Items): UsageStore {
  return {
    async put(record) {
      const ttl = Math.floor(Date.parse(record.day) / 1000) + KEPT_SECONDS
      await items.put({ ...usageCodec.encode(record), ...usageKey(record.tenant, record.day, record.executionId), ttl }, undefined, {
        // The execution leaves its container's queue after this write; the reconciler repeats the write for an execution that is still there.
        isDeferred: true,
      })
    },
    async ofDay(tenant, day) {
      const where = all(equals('pk', rowKey(tenant, 'usage', day).pk), startsWith('sk', USAGE_PREFIX))
      const records: UsageRecord[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({ where, startKey })
        for (const item of page.items) records.push(usageCodec.decode(item))
        startKey = page.lastKey
      } while (startKey !== undefined)
      return records
    },
  }
}
