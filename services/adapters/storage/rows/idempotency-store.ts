import { createHash } from 'node:crypto'
import { changeByCompareAndSet } from '../../../model/change-by-compare-and-set.ts'
import type { IdempotencyRecord, IdempotencyStore } from '../../../ports/idempotency-store.ts'
import { absent, any, atMost } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey, type ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'

const idOf = (scope: string, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([scope, key]))
    .digest('hex')

export function createIdempotencyStore(items: Items): IdempotencyStore {
  const itemOf = (
    tenant: string,
    { scope, key, record }: { readonly scope: string; readonly key: string; readonly record: IdempotencyRecord },
  ): Item & ItemKey => ({
    ...rowKey(tenant, 'idempotency', idOf(scope, key)),
    ...record,
    ttl: Math.ceil(record.expiresAt / 1000),
  })
  return {
    async remember(tenant, { scope, key, record }) {
      await items.put(itemOf(tenant, { scope, key, record }))
    },
    async claim(tenant, { scope, key, record, now }) {
      const item = itemOf(tenant, { scope, key, record })
      return changeByCompareAndSet(
        async () => {
          if (await items.put(item, any(absent('pk'), atMost('expiresAt', now)))) return { record, isNew: true }
          const stored = await items.get({ pk: item.pk, sk: item.sk })
          // The record may expire between the refused write and this read.
          return stored !== null && Number(stored['expiresAt']) > now ? { record: decode(stored), isNew: false } : undefined
        },
        () => new Error('An idempotency record appears and disappears under every try to claim it. Check the clocks of the workers.'),
      )
    },
  }
}

const decode = (item: Item): IdempotencyRecord => ({
  bodyHash: String(item['bodyHash']),
  resultId: String(item['resultId']),
  expiresAt: Number(item['expiresAt']),
})
