import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Condition } from '../rows/expression.ts'
import {
  itemTooLarge,
  MAX_ITEM_BYTES,
  refuseLargeValues,
  type ItemChange,
  type Items,
  type QueryRequest,
  type UpdateOptions,
  type WriteOptions,
} from '../rows/items.ts'
import { tenantPrefix, type ItemKey } from '../rows/keys.ts'
import type { Item } from '../rows/row-codec.ts'
import { applyActions, holds } from './evaluate.ts'
import type { GroupCommit } from './group-commit.ts'
import { keyQuery, LAST_CHARACTER } from './key-query.ts'
import { refusalOf } from './sqlite-error.ts'

/** Default size of a page, because a large page would block the event loop. */
const PAGE_ITEMS = 200
const COLUMNS = ['pk', 'sk', 'lpk', 'lsk', 'name', 'dueShard', 'dueAt', 'poolPk', 'poolSk', 'ttl'] as const
const INDEXED = COLUMNS.slice(2)

/**
 * The row primitives on the only connection to the database. Each runs in one turn of the event loop, so reads and conditional writes never
 * interleave, and a change of one item, which is one statement, needs no transaction around its read and its write.
 * With `commits`, a call resolves once its write, or everything its read saw, is on disk.
 */
export class SqliteItems implements Items {
  readonly #database: DatabaseSync
  readonly #commits: GroupCommit | null
  readonly #statements = new Map<string, StatementSync>()
  readonly #select: StatementSync
  readonly #insert: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync, commits: GroupCommit | null) {
    this.#database = database
    this.#commits = commits
    this.#select = database.prepare('SELECT attributes FROM items WHERE pk = ? AND sk = ?')
    this.#insert = database.prepare(
      `INSERT INTO items (${COLUMNS.join(', ')}, attributes) VALUES (${COLUMNS.map(() => '?').join(', ')}, ?)
       ON CONFLICT (pk, sk) DO UPDATE SET ${[...INDEXED, 'attributes'].map((column) => `${column} = excluded.${column}`).join(', ')}`,
    )
    this.#remove = database.prepare('DELETE FROM items WHERE pk = ? AND sk = ? RETURNING attributes')
  }

  async get(key: ItemKey): Promise<Item | null> {
    const item = this.#read(key)
    await this.#commits?.settled(key.pk)
    return item
  }

  async put(item: Item, condition?: Condition, { isDeferred = false }: WriteOptions = {}): Promise<boolean> {
    refuseLargeValues(Object.values(item))
    const key = keyOf(item)
    const isWritten = refusing(() => {
      const before = condition === undefined ? null : this.#read(key)
      if (condition !== undefined && !holds(before, condition)) return false
      this.#write(before, item)
      return true
    })
    await (isWritten ? this.#written(key, isDeferred) : this.#commits?.settled(key.pk))
    return isWritten
  }

  async update(
    key: ItemKey,
    actions: Parameters<Items['update']>[1],
    { condition, isDeferred = false }: UpdateOptions,
  ): Promise<Item | null> {
    refuseLargeValues(actions.map((action) => ('value' in action ? action.value : null)))
    const after = refusing(() => {
      const before = this.#read(key)
      if (!holds(before, condition)) return null
      const changed = applyActions(before ?? { pk: key.pk, sk: key.sk }, actions)
      return this.#write(before, changed)
    })
    await (after === null ? this.#commits?.settled(key.pk) : this.#written(key, isDeferred))
    return after
  }

  async delete(key: ItemKey): Promise<Item | null> {
    const removed = refusing(() => this.#remove.get(key.pk, key.sk))
    await this.#commits?.written(key.pk)
    return removed === undefined ? null : (JSON.parse(String(removed['attributes'])) as Item)
  }

  async query(request: QueryRequest): ReturnType<Items['query']> {
    const limit = Math.min(request.limit ?? PAGE_ITEMS, PAGE_ITEMS)
    const { sql, values } = keyQuery(request, limit + 1)
    const rows = this.#prepared(sql).all(...values)
    const page = rows.slice(0, limit).map((row) => itemOf(row, request.index))
    const [partition] = values
    await this.#commits?.settled(request.index === undefined && typeof partition === 'string' ? partition : undefined)
    const { filter } = request
    return {
      items: filter === undefined ? page : page.filter((item) => holds(item, filter)),
      lastKey: rows.length > limit ? page.at(-1) : undefined,
    }
  }

  /** The key begins with the tenant, so this reads the tenant's rows only. */
  async ofTenant(tenant: string, cursor: string | null): ReturnType<Items['ofTenant']> {
    const sql = 'SELECT attributes FROM items WHERE pk BETWEEN ? AND ? AND (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT ?'
    const prefix = tenantPrefix(tenant)
    const { pk, sk } = cursor === null ? { pk: '', sk: '' } : keyOf(JSON.parse(cursor) as Item)
    const rows = this.#prepared(sql).all(prefix, prefix + LAST_CHARACTER, pk, sk, PAGE_ITEMS + 1)
    await this.#commits?.settled()
    const items = rows.slice(0, PAGE_ITEMS).map((row) => itemOf(row, undefined))
    const last = rows.length > PAGE_ITEMS ? items.at(-1) : undefined
    return { items, cursor: last === undefined ? null : JSON.stringify(keyOf(last)) }
  }

  async getMany(keys: readonly ItemKey[]): Promise<readonly (Item | null)[]> {
    const items = keys.map((key) => this.#read(key))
    await this.#commits?.settled()
    return items
  }

  async writeMany(changes: readonly ItemChange[]): Promise<void> {
    for (const change of changes) if ('put' in change) refuseLargeValues(Object.values(change.put))
    this.#transaction(() => {
      for (const change of changes)
        if ('put' in change) this.#write(null, change.put)
        else this.#remove.run(change.delete.pk, change.delete.sk)
    })
    const partitions = new Set(changes.map((change) => ('put' in change ? String(change.put['pk']) : change.delete.pk)))
    await Promise.all([...partitions].map((partition) => this.#commits?.written(partition)))
  }

  async flush(): Promise<void> {
    await this.#commits?.settled()
  }

  #written({ pk }: ItemKey, isDeferred: boolean): Promise<void> | undefined {
    return isDeferred ? this.#commits?.deferred(pk) : this.#commits?.written(pk)
  }

  #read({ pk, sk }: ItemKey): Item | null {
    const row = this.#select.get(pk, sk)
    return row === undefined ? null : (JSON.parse(String(row['attributes'])) as Item)
  }

  /**
   * `before` is the stored item, when it is known. Then only the columns that change are set, because SQLite writes each index of a column that
   * a statement sets, also with the same value. Returns the item as stored.
   */
  #write(before: Item | null, item: Item): Item {
    const attributes = JSON.stringify(item)
    if (Buffer.byteLength(attributes) > MAX_ITEM_BYTES) throw itemTooLarge()
    const { pk, sk } = keyOf(item)
    if (before === null) this.#insert.run(...COLUMNS.map((column) => columnValue(item[column])), attributes)
    else {
      const changed = INDEXED.filter((column) => before[column] !== item[column])
      const sql = `UPDATE items SET ${[...changed, 'attributes'].map((column) => `${column} = ?`).join(', ')} WHERE pk = ? AND sk = ?`
      this.#prepared(sql).run(...changed.map((column) => columnValue(item[column])), attributes, pk, sk)
    }
    return item
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
    return statement
  }

  #transaction(work: () => void): void {
    refusing(() => {
      try {
        this.#database.exec('BEGIN IMMEDIATE')
        work()
        this.#database.exec('COMMIT')
      } finally {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      }
    })
  }
}

/** Throws the errors of SQLite as those of the port. */
function refusing<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw refusalOf(error)
  }
}

const keyOf = (item: Item): ItemKey => ({ pk: String(item['pk']), sk: String(item['sk']) })
const columnValue = (value: unknown): SQLInputValue => (typeof value === 'string' || typeof value === 'number' ? value : null)

function itemOf(row: Record<string, unknown>, index: QueryRequest['index']): Item {
  if (index === undefined || index === 'pool') return JSON.parse(String(row['attributes'])) as Item
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}
