import type { RowMeter } from '../../../ports/table.ts'
import { add, equals, set, type Action } from './expression.ts'
import type { ItemChange, Items } from './items.ts'
import { parseRowKey, type ItemKey, type RowName } from './keys.ts'
import type { Item } from './row-codec.ts'

/** Rows that a tenant can add. Others are the service's own, or expire by themselves and are bounded by the rate of requests. */
const COUNTED: ReadonlySet<string> = new Set<RowName>([
  'container',
  'execution',
  'input',
  'response',
  'conversation',
  'file',
  'skill',
  'upload',
  'delivery',
  'secret',
  'network',
])
/** Rows of work that was admitted earlier. Its events, and how it ends, are counted and never refused: a full account can cancel. */
const WORK: ReadonlySet<string> = new Set<RowName>(['execution', 'response', 'delivery', 'network'])
/** The attribute with the bytes for which a row was counted. Its removal gives them back. */
const CHARGED = 'charged'
/** A row is counted again when it has grown by more than this, bytes. */
const MAX_UNCOUNTED_GROWTH = 4 * 1024

interface Place {
  readonly tenant: string
  readonly isWork: boolean
  readonly name: string
}

/** Null for a row that is not counted. */
function placeOf({ pk }: ItemKey): Place | null {
  if (!pk.startsWith('T#')) return null
  const { tenant, name } = parseRowKey(pk)
  return COUNTED.has(name) ? { tenant, isWork: WORK.has(name), name } : null
}

/** A response is refused by its row. An execution's row is written together with its container's queue, so its acceptance checks the account. */
const isRefusable = ({ isWork, name }: Place, { sk }: Item): boolean => !isWork || (name === 'response' && sk === 'row')
const keyOf = (item: Item): ItemKey => ({ pk: String(item['pk']), sk: String(item['sk']) })
const chargedOf = (item: Item | null): number => (typeof item?.[CHARGED] === 'number' ? item[CHARGED] : 0)
const bytesOf = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) : typeof value === 'number' ? 8 : Buffer.byteLength(JSON.stringify(value ?? null))
const sizeOf = (item: Item): number => Object.entries(item).reduce((sum, [name, value]) => sum + name.length + bytesOf(value), 0)
const writtenBy = (actions: readonly Action[]): number =>
  actions.reduce((sum, action) => sum + ('value' in action ? bytesOf(action.value) : 0), 0)

/** Primitives that count the bytes of each tenant's rows, and refuse a new row or a long value before they store it. */
export function meterItems(items: Items, meter: RowMeter): Items {
  return {
    ...bound(items),
    async put(item, condition, options) {
      const place = placeOf(keyOf(item))
      if (place === null) return items.put(item, condition, options)
      const bytes = sizeOf(item)
      if (isRefusable(place, item))
        await meter.admit(place.tenant, { bytes, isContainer: place.name === 'container' && item['sk'] === 'row' })
      const isWritten = await items.put({ ...item, [CHARGED]: bytes }, condition, options)
      if (isWritten) await meter.add(place.tenant, bytes)
      return isWritten
    },
    async update(key, actions, options) {
      const place = placeOf(key)
      if (place === null) return items.update(key, actions, options)
      const written = writtenBy(actions)
      if (!place.isWork && written > MAX_UNCOUNTED_GROWTH) await meter.admit(place.tenant, { bytes: written, isContainer: false })
      const charged = options.isGrowth === true && written > MAX_UNCOUNTED_GROWTH ? written : 0
      const after = await items.update(key, charged === 0 ? actions : [...actions, add(CHARGED, charged)], options)
      if (after === null) return null
      if (charged > 0) await meter.add(place.tenant, charged)
      return correctCharge(items, { meter, place, key, after, isOver: charged > 0 })
    },
    async delete(key) {
      const removed = await items.delete(key)
      const place = placeOf(key)
      if (place !== null) await meter.add(place.tenant, -chargedOf(removed))
      return removed
    },
    async writeMany(changes) {
      await items.writeMany(changes)
      for (const change of changes) {
        const place = 'delete' in change ? placeOf(change.delete) : null
        if (place !== null && 'delete' in change) await meter.add(place.tenant, -(change.delete.charged ?? 0))
      }
    },
  }
}

/** The primitives of an object whose methods need it. */
const bound = (items: Items): Items => ({
  get: (...request) => items.get(...request),
  put: (...rest) => items.put(...rest),
  update: (...rest) => items.update(...rest),
  delete: (key) => items.delete(key),
  query: (request) => items.query(request),
  getMany: (keys) => items.getMany(keys),
  writeMany: (changes) => items.writeMany(changes),
  ofTenant: (...rest) => items.ofTenant(...rest),
  flush: () => items.flush(),
})

interface Charge {
  readonly meter: RowMeter
  readonly place: Place
  readonly key: ItemKey
  readonly after: Item
  /** The row may be charged for more than it has: what the update wrote may have replaced something. */
  readonly isOver: boolean
}

/** A row that another writer charges at the same time is charged once. Returns the row. */
async function correctCharge(items: Items, { meter, place, key, after, isOver }: Charge): Promise<Item> {
  const charged = chargedOf(after)
  const bytes = sizeOf(after)
  const growth = isOver ? Math.abs(bytes - charged) : bytes - charged
  if (charged === 0 || growth <= MAX_UNCOUNTED_GROWTH) return after
  const again = await items.update(key, [set(CHARGED, bytes)], { condition: equals(CHARGED, charged), isDeferred: true })
  if (again !== null) await meter.add(place.tenant, bytes - charged)
  return again ?? after
}

/** The removal of an item that was read, so that what it was counted for is given back. */
export const removalOf = (item: Item): ItemChange => ({ delete: { ...keyOf(item), charged: chargedOf(item) } })
