import { assign, type Action } from './expression.ts'

export type Item = Record<string, unknown>

/** Structured fields that conditions look into; every other structured field is stored as JSON text. */
type NativeField = 'lease' | 'queue' | 'unfinished' | 'shares' | 'commands' | 'backgroundCommands' | 'snapshot' | 'hibernating'
type NullableField<Row> = { [K in keyof Row]-?: null extends Row[K] ? K : never }[keyof Row]
type JsonField<Row> = Exclude<{ [K in keyof Row]-?: NonNullable<Row[K]> extends object ? K : never }[keyof Row], NativeField>

/** How rows of one kind are stored. A field forgotten in either list is a compile error. */
export interface RowShape<Row> {
  /** Stored as JSON text: a user's document may nest deeper than DynamoDB's 32 levels, and text is cheaper to store and to read. */
  readonly json: Readonly<Record<JsonField<Row>, true>>
  /** Null is stored as no attribute, so that `attribute_not_exists` means null and sparse indexes stay sparse. */
  readonly nullable: Readonly<Record<NullableField<Row>, true>>
  /** Values of fields that rows written by earlier versions lack. */
  readonly defaults?: Readonly<Partial<Row>>
}

const INDEX_ATTRIBUTES: ReadonlySet<string> = new Set([
  'pk',
  'sk',
  'lpk',
  'lsk',
  'tenantShard',
  'dueShard',
  'poolPk',
  'poolSk',
  'readyPoolSk',
  'ttl',
  'charged',
])
export const isIndexAttribute = (name: string): boolean => INDEX_ATTRIBUTES.has(name)
const ROW_VERSION = 1

export interface RowCodec<Row> {
  encode(row: Row): Item
  decode(item: Item): Row
  /** The actions that write these fields; undefined ones stay as they are. */
  patch(change: Partial<Row>): readonly Action[]
}

/** `indexOnly`: attributes that the store adds for an index and that are not fields of the row. */
export function rowCodec<Row extends object>(shape: RowShape<Row>, indexOnly: readonly string[] = []): RowCodec<Row> {
  const json: ReadonlySet<string> = new Set(Object.keys(shape.json))
  const nulls = Object.fromEntries(Object.keys(shape.nullable).map((field) => [field, null]))
  const stored = (field: string, value: unknown): unknown => (json.has(field) ? JSON.stringify(value) : value)
  return {
    encode: (row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([, value]) => value !== null && value !== undefined)
          .map(([field, value]) => [field, stored(field, value)]),
      ),
    decode: (item) => {
      if (item['v'] !== ROW_VERSION)
        throw new Error(
          `The row ${String(item['pk'])} has version ${String(item['v'])}; this program reads version ${ROW_VERSION}. Update it.`,
        )
      const row: Item = { ...nulls, ...shape.defaults }
      for (const [field, value] of Object.entries(item)) {
        if (INDEX_ATTRIBUTES.has(field) || indexOnly.includes(field)) continue
        row[field] = json.has(field) ? JSON.parse(value as string) : value
      }
      return row as Row
    },
    patch: (change) =>
      Object.entries(change)
        .filter(([, value]) => value !== undefined)
        .map(([field, value]) => assign(field, value === null ? null : stored(field, value))),
  }
}
