import type { Action, Condition } from './expression.ts'
import type { ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'

/** Maximum size of an item in every store, bytes. DynamoDB accepts 400 KB, including attribute names and index keys. */
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
  /** Start of the next page; undefined after the last page. */
  readonly lastKey: Item | undefined
}

export interface TenantPage {
  readonly items: readonly Item[]
  /** Where the next page starts; null after the last one. */
  readonly cursor: string | null
}

/** `mayLag`: the item may be a moment old. In DynamoDB such a read costs half. */
export interface ReadOptions {
  readonly mayLag?: boolean
}

/**
 * A deferred write resolves once every reader sees it. A power failure may undo it while no later write has resolved, and then undoes all
 * writes after it too. For writes that only a step on the same machine acts on: the failure ends that step and its sandbox as well.
 */
export interface WriteOptions {
  readonly isDeferred?: boolean
}

/** An update is written only while the condition holds. */
export interface UpdateOptions extends WriteOptions {
  readonly condition: Condition
  /** Its values are new to the row, so a meter can count them with the same write. */
  readonly isGrowth?: boolean
}

/** The primitives that every row store is built on; a storage driver implements these nine. Reads of the table are strongly consistent, unless they may lag. */
export interface Items {
  get(key: ItemKey, options?: ReadOptions): Promise<Item | null>
  /** Replaces the item. False when the condition does not hold. */
  put(item: Item, condition?: Condition, options?: WriteOptions): Promise<boolean>
  /** The item after the update; null when the condition does not hold. */
  update(key: ItemKey, actions: readonly Action[], options: UpdateOptions): Promise<Item | null>
  /** The removed item; null when there was none. */
  delete(key: ItemKey): Promise<Item | null>
  query(request: QueryRequest): Promise<QueryPage>
  /** In the order of the keys; null for missing items. */
  getMany(keys: readonly ItemKey[]): Promise<readonly (Item | null)[]>
  writeMany(changes: readonly ItemChange[]): Promise<void>
  /**
   * A page of the items of one tenant, in any order. `cursor` is null for the first page. An item that was written a moment ago may be missing: in
   * DynamoDB an index finds them.
   */
  ofTenant(tenant: string, cursor: string | null): Promise<TenantPage>
  /** Resolves when every write so far, deferred ones too, survives a power failure. */
  flush(): Promise<void>
}
/** `charged`: the bytes for which the removed row was counted, if it is known. */
export type ItemChange = { readonly put: Item } | { readonly delete: ItemKey & { readonly charged?: number } }

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
