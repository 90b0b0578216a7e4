import type { Items } from '../../../../services/adapters/storage/rows/items.ts'
import type { History } from '../../history.ts'
import { recordItem } from './record-item.ts'

/** Records every accepted and refused write. The calls of one connection resolve in the order of their transactions. */
export function recordItems(items: Items, history: History): Items {
  return {
    get: (...request) => items.get(...request),
    query: (request) => items.query(request),
    getMany: (keys) => items.getMany(keys),
    async put(item, condition, options) {
      const isWritten = await items.put(item, condition, options)
      const key = { pk: String(item['pk']), sk: String(item['sk']) }
      if (isWritten) recordItem(history, key, item)
      else history.add({ type: 'refused', key: key.pk })
      return isWritten
    },
    async update(key, actions, options) {
      const item = await items.update(key, actions, options)
      if (item === null) history.add({ type: 'refused', key: key.pk })
      else recordItem(history, key, item)
      return item
    },
    async delete(key) {
      const removed = await items.delete(key)
      history.add({ type: 'removed', key: key.pk })
      return removed
    },
    writeMany: (changes) => items.writeMany(changes),
    ofTenant: (tenant, cursor) => items.ofTenant(tenant, cursor),
    flush: () => items.flush(),
  }
}
