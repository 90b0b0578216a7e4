import type { SQLInputValue } from 'node:sqlite'
import type { Condition } from '../rows/expression.ts'
import type { IndexName, QueryRequest } from '../rows/items.ts'

interface KeyColumns {
  readonly partition: string
  readonly sort: string
}
const KEY: KeyColumns = { partition: 'pk', sort: 'sk' }
const INDEXES: Readonly<Record<IndexName, KeyColumns>> = {
  list: { partition: 'lpk', sort: 'lsk' },
  due: { partition: 'dueShard', sort: 'dueAt' },
  pool: { partition: 'poolPk', sort: 'poolSk' },
}
/** The attributes of an item in an index, as in the DynamoDB table definition. */
const PROJECTIONS: Readonly<Record<IndexName, string>> = {
  list: 'pk, sk, lpk, lsk, name',
  due: 'pk, sk, dueShard, dueAt',
  pool: 'attributes',
}
/** Sorts after every text that begins with the prefix. */
export const LAST_CHARACTER = '\u{10ffff}'

export interface KeyQuery {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** A query of one partition as SQL. Values are always bound, never part of the text. */
export function keyQuery({ index, where, descending = false, startKey }: QueryRequest, limit: number): KeyQuery {
  const columns = index === undefined ? KEY : INDEXES[index]
  const tests = [columnTest(where, columns), ...(index === undefined ? [] : [{ sql: `${columns.sort} IS NOT NULL`, values: [] }])]
  const order = index === undefined ? [columns.sort] : [columns.sort, 'pk', 'sk']
  if (startKey !== undefined)
    tests.push({
      sql: `(${order.join(', ')}) ${descending ? '<' : '>'} (${order.map(() => '?').join(', ')})`,
      values: order.map((column) => startKey[column] as SQLInputValue),
    })
  const direction = descending ? ' DESC' : ''
  return {
    sql: `SELECT ${index === undefined ? 'attributes' : PROJECTIONS[index]} FROM items WHERE ${tests.map(({ sql }) => sql).join(' AND ')} ORDER BY ${order.map((column) => column + direction).join(', ')} LIMIT ?`,
    values: [...tests.flatMap(({ values }) => values), limit],
  }
}

function columnTest(condition: Condition, columns: KeyColumns): KeyQuery {
  const column = 'path' in condition ? columnOf(condition.path, columns) : ''
  switch (condition.kind) {
    case 'all': {
      const tests = condition.conditions.map((inner) => columnTest(inner, columns))
      return { sql: tests.map(({ sql }) => sql).join(' AND '), values: tests.flatMap(({ values }) => values) }
    }
    case 'compare':
      return { sql: `${column} ${condition.operator} ?`, values: [condition.value as SQLInputValue] }
    case 'between':
      return { sql: `${column} BETWEEN ? AND ?`, values: [condition.from as SQLInputValue, condition.to as SQLInputValue] }
    case 'startsWith':
      return { sql: `${column} BETWEEN ? AND ?`, values: [condition.prefix, condition.prefix + LAST_CHARACTER] }
    default:
      throw new Error(`A key condition cannot be of kind "${condition.kind}".`)
  }
}

function columnOf(path: string, columns: KeyColumns): string {
  if (path === columns.partition || path === columns.sort) return path
  throw new Error(`The attribute ${path} is not a key of the queried index.`)
}
