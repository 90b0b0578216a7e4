import type { LockStore } from '../../../ports/lock-store.ts'
import { absent, any, atMost } from './expression.ts'
import type { Items } from './items.ts'
import { part } from './keys.ts'

export const createLockStore = (items: Items): LockStore => ({
  acquire: (name, now, until) =>
    items.put(
      { pk: `S#lock#${part(name)}`, sk: 'row', expiresAt: until, ttl: Math.ceil(until / 1000) },
      any(absent('pk'), atMost('expiresAt', now)),
    ),
})
