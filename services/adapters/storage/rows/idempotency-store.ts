import { createHash } from 'node:crypto'
import type { IdempotencyRecord, IdempotencyStore } from '../../../ports/idempotency-store.ts'
import { absent, any, atMost } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey, type ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'

const idOf = (scope: string, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([scope, key]))
    .digest('hex')
/** The record may expire between a refused write and the read that follows. */
const MAX_ATTEMPTS = 3

export function createIdempotencyStore(items: Items): IdempotencyStore {
  const itemOf = (tenant: string, scope: string, key: string, record: IdempotencyRecord): Item & ItemKey => ({
    ...rowKey(tenant, 'idempotency', idOf(scope, key)),
    ...record,
    ttl: Math.ceil(record.expiresAt / 1000),
  })
  return {
    async remember(tenant, scope, key, record) {
      await items.put(itemOf(tenant, scope, key, record))
    },
    async claim(tenant, scope, key, record, now) {
      const item = itemOf(tenant, scope, key, record)
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        if (await items.put(item, any(absent('pk'), atMost('expiresAt', now)))) return { record, isNew: true }
        const stored = await items.get({ pk: item.pk, sk: item.sk })
        if (stored !== null && Number(stored['expiresAt']) > now) return { record: decode(stored), isNew: false }
      }
      throw new Error('An idempotency record appears and disappears under every try to claim it. Check the clocks of the workers.')
    },
  }
}

const decode = (item: Item): IdempotencyRecord => ({
  bodyHash: String(item['bodyHash']),
  resultId: String(item['resultId']),
  expiresAt: Number(item['expiresAt']),
})
