import type { SharedRowState, SharedRowStore } from '../../../ports/shared-row-store.ts'
import { absent, equals } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey } from './keys.ts'

export const createSharedRowStore = (items: Items): SharedRowStore => ({
  async get<Values extends object>(tenant: string, name: string): Promise<SharedRowState<Values>> {
    const item = await items.get(rowKey(tenant, 'quota', name))
    if (item === null) return { revision: 0, values: null }
    return { revision: Number(item['revision']), values: JSON.parse(String(item['values'])) as Values }
  },
  replace(tenant, name, { revision, values }) {
    const item = { ...rowKey(tenant, 'quota', name), revision: revision + 1, values: JSON.stringify(values) }
    // A power failure also ends the work that the counters count.
    return items.put(item, revision === 0 ? absent('pk') : equals('revision', revision), { isDeferred: true })
  },
})
