import { createHash } from 'node:crypto'
import type { StoredSecret } from '../../../model/network/secret.ts'
import { LAST_USED_MS } from '../../../model/tenants/tenant.ts'
import type { SecretStore } from '../../../ports/secret-store.ts'
import { absent, all, any, atMost, equals, set, startsWith } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey, type ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { secretCodec } from './row-shapes.ts'

const PREFIX = 'secret#'

type Place = Pick<StoredSecret, 'tenant' | 'owner' | 'subject' | 'name'>

/** The id of an end user is text of a client, so it is hashed. */
const keyOf = ({ tenant, owner, subject, name }: Place): ItemKey => ({
  pk: rowKey(tenant, 'secret', owner).pk,
  sk: `${PREFIX}${name}${subject === null ? '' : `#${createHash('sha256').update(subject).digest('hex')}`}`,
})

/** The secrets of one owner are one partition. */
export function createSecretStore(items: Items): SecretStore {
  return {
    async put(secret, expiresAt) {
      const ttl = expiresAt === undefined ? {} : { ttl: Math.ceil(expiresAt / 1000) }
      await items.put({ ...secretCodec.encode(secret), ...keyOf(secret), ...ttl })
    },
    async list(tenant, owner) {
      const where = all(equals('pk', rowKey(tenant, 'secret', owner).pk), startsWith('sk', PREFIX))
      const secrets: StoredSecret[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({ where, startKey })
        secrets.push(...page.items.map((item) => secretCodec.decode(item)))
        startKey = page.lastKey
      } while (startKey !== undefined)
      return secrets
    },
    remove: async (place) => (await items.delete(keyOf(place))) !== null,
    async noteUse(place, now) {
      const isOld = any(absent('lastUsedAt'), atMost('lastUsedAt', now - LAST_USED_MS))
      await items.update(keyOf(place), [set('lastUsedAt', now)], { condition: all(equals('v', 1), isOld), isDeferred: true })
    },
  }
}
