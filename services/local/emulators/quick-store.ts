import { createRequire } from 'node:module'

type Callback<Value = unknown> = (error: unknown, value?: Value) => void
type Attributes = Readonly<Record<string, unknown>>
type KeySchema = readonly { readonly AttributeName: string }[]

interface TableRow {
  readonly TableStatus: string
  readonly KeySchema: KeySchema
  readonly GlobalSecondaryIndexes?: readonly Index[]
}
interface Index {
  readonly KeySchema: KeySchema
  readonly Projection: { readonly ProjectionType: string; readonly NonKeyAttributes?: readonly string[] }
}
type Write = (...args: unknown[]) => unknown
export interface Store {
  readonly options: { readonly path?: string }
  /** Without `checkStatus` for work on items, with it for work on the table itself. */
  getTable(name: string, checkStatus: boolean | Callback<TableRow>, callback?: Callback<TableRow>): void
  readonly tableDb: { put: Write; del: Write }
}
interface DynaliteDb {
  create: (options: object) => Store
  updateIndexes: (store: Store, table: TableRow, before: Attributes | undefined, after: Attributes | null, callback: Callback) => void
}

const stores = new WeakMap<object, Store>()

let isDone = false

/** Spares dynalite's store what changes nothing. For all tables of this process that are opened later; once is enough. */
export function quickenStore(): void {
  if (isDone) return
  isDone = true
  const db = createRequire(createRequire(import.meta.url).resolve('dynalite'))('./db') as DynaliteDb
  const { create, updateIndexes } = db
  db.create = (options) => {
    const store = rememberTables(create(options))
    stores.set(options, store)
    return store
  }
  db.updateIndexes = (store, table, before, after, callback) => {
    // In files an index that a kill left behind is mended by the next write to its row, whatever that changes.
    const isSpared = store.options.path === undefined && before !== undefined && after !== null
    updateIndexes(store, isSpared ? withIndexesOf(table, before, after) : table, before, after, callback)
  }
}

/** The store of the server that dynalite made with these options. */
export function storeOf(options: object): Store {
  const store = stores.get(options)
  if (store === undefined) throw new Error('dynalite has made no store with these options')
  return store
}

/** Every work on an item begins with reading and parsing its table's row, which hardly ever changes: it is kept until somebody writes one. */
function rememberTables(store: Store): Store {
  const known = new Map<string, TableRow>()
  const getTable = store.getTable.bind(store)
  store.getTable = (name, checkStatus, callback) => {
    if (typeof checkStatus === 'boolean') return getTable(name, checkStatus, callback)
    const table = known.get(name)
    if (table !== undefined) return void setImmediate(checkStatus, null, table)
    getTable(name, (error, found) => {
      if (found?.TableStatus === 'ACTIVE') known.set(name, found)
      checkStatus(error, found)
    })
  }
  for (const verb of ['put', 'del'] as const) {
    const write = store.tableDb[verb].bind(store.tableDb)
    store.tableDb[verb] = (...args) => {
      known.clear()
      return write(...args)
    }
  }
  return store
}

/** The table as far as an index of it shows the difference between two versions of an item. */
function withIndexesOf(table: TableRow, before: Attributes, after: Attributes): TableRow {
  const showsChange = ({ KeySchema, Projection }: Index): boolean => {
    if (Projection.ProjectionType === 'ALL') return true
    const keys = [...table.KeySchema, ...KeySchema].map(({ AttributeName }) => AttributeName)
    return [...keys, ...(Projection.NonKeyAttributes ?? [])].some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  }
  return { ...table, GlobalSecondaryIndexes: (table.GlobalSecondaryIndexes ?? []).filter(showsChange) }
}
