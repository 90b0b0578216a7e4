import type { Action, Condition } from './expression.ts'
import type { ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'

/** The largest item that every store accepts, bytes. DynamoDB takes 400 KB, attribute names and index keys included. */
export const MAX_ITEM_BYTES = 380 * 1024

export type IndexName = 'list' | 'due' | 'pool'

export interface QueryRequest {
  readonly index?: IndexName
  /** An equality on the partition key and at most one condition on the sort key. */
  readonly where: Condition
  readonly filter?: Condition
  readonly descending?: boolean
  /** Maximum number of items read for this page, before the filter. */
  readonly limit?: number
  readonly startKey?: Item | undefined
}
export interface QueryPage {
  readonly items: readonly Item[]
  /** Where the next page begins; undefined after the last page. */
  readonly lastKey: Item | undefined
}

/** The primitives that every row store is built on; a storage driver implements these seven. Reads are strongly consistent. */
export interface Items {
  get(key: ItemKey): Promise<Item | null>
  /** Replaces the item. False when the condition does not hold. */
  put(item: Item, condition?: Condition): Promise<boolean>
  /** The item after the update; null when the condition does not hold. */
  update(key: ItemKey, actions: readonly Action[], condition: Condition): Promise<Item | null>
  delete(key: ItemKey): Promise<void>
  query(request: QueryRequest): Promise<QueryPage>
  /** In the order of the keys; null for missing items. */
  getMany(keys: readonly ItemKey[]): Promise<readonly (Item | null)[]>
  writeMany(changes: readonly ItemChange[]): Promise<void>
}
export type ItemChange = { readonly put: Item } | { readonly delete: ItemKey }

export const itemTooLarge = (cause?: unknown): Error =>
  new Error(
    `The row would exceed the maximum of ${MAX_ITEM_BYTES} bytes. Store its largest field as an object and keep a reference in the row.`,
    { cause },
  )

/** Throws when the text among these values alone exceeds the maximum. */
export function refuseLargeValues(values: readonly unknown[]): void {
  let bytes = 0
  for (const value of values) if (typeof value === 'string') bytes += value.length < 256 ? value.length : Buffer.byteLength(value)
  if (bytes > MAX_ITEM_BYTES) throw itemTooLarge()
}
