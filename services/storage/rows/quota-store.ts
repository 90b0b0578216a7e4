import type { QuotaStore } from '../../core/ports/quota-store.ts'
import { absent, equals } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey } from './keys.ts'

export const createQuotaStore = (items: Items): QuotaStore => ({
  async get(tenant, name) {
    const item = await items.get(rowKey(tenant, 'quota', name))
    if (item === null) return { revision: 0, values: {} }
    return { revision: Number(item['revision']), values: JSON.parse(String(item['values'])) as Readonly<Record<string, number>> }
  },
  replace(tenant, name, { revision }, values) {
    const item = { ...rowKey(tenant, 'quota', name), revision: revision + 1, values: JSON.stringify(values) }
    return items.put(item, revision === 0 ? absent('pk') : equals('revision', revision))
  },
})
