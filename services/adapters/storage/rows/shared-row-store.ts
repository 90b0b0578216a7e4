import type { SharedRowState, SharedRowStore } from '../../../ports/shared-row-store.ts'
import { above, absent, all, any, below, between, equals, increment } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey } from './keys.ts'

/** Clocks of processes differ: a later window of another process is shared. One further ahead is of a clock that was set back since, and ends. */
const MAX_AHEAD = 15

export const createSharedRowStore = (items: Items): SharedRowStore => ({
  async get<Values extends object>(tenant: string, name: string): Promise<SharedRowState<Values>> {
    const item = await items.get(rowKey(tenant, 'quota', name))
    if (item === null) return { revision: 0, values: null }
    return { revision: Number(item['revision']), values: JSON.parse(String(item['values'])) as Values }
  },
  async count(tenant, name, { window, max }) {
    const key = rowKey(tenant, 'quota', name)
    const isNow = all(between('window', window, window + MAX_AHEAD), below('count', max))
    const add = async (): Promise<boolean> =>
      (await items.update(key, [increment('count')], { condition: isNow, isDeferred: true })) !== null
    if (await add()) return true
    const isOver = any(absent('window'), below('window', window), above('window', window + MAX_AHEAD))
    if (await items.put({ ...key, window, count: 1 }, isOver, { isDeferred: true })) return true
    // Another process may have begun the window after the first update.
    return Number((await items.get(key))?.['count']) < max && add()
  },
  replace(tenant, name, { revision, values }) {
    const item = { ...rowKey(tenant, 'quota', name), revision: revision + 1, values: JSON.stringify(values) }
    // A power failure also ends the work that the counters count.
    return items.put(item, revision === 0 ? absent('pk') : equals('revision', revision), { isDeferred: true })
  },
})
