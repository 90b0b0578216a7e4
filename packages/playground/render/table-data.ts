export interface TableData {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  /** Rows in all, where not every row is here. */
  readonly total: number
}

/** A tabular data resource as a supervisor makes it; null for anything else. */
export function resourceTable(value: unknown): TableData | null {
  if (typeof value !== 'object' || value === null || !('schema' in value) || !('data' in value)) return null
  const { schema, data } = value as { readonly schema: { readonly fields?: unknown }; readonly data: unknown }
  if (typeof schema !== 'object' || schema === null || !Array.isArray(schema.fields) || !Array.isArray(data)) return null
  const columns = (schema.fields as readonly { readonly name?: unknown }[]).map(({ name }) => (typeof name === 'string' ? name : ''))
  const rows = (data as readonly unknown[]).map((row) =>
    columns.map((name) =>
      typeof row === 'object' && row !== null && Object.hasOwn(row, name) ? (row as Readonly<Record<string, unknown>>)[name] : null,
    ),
  )
  const total = (value as { readonly cellblock?: { readonly rows?: unknown } }).cellblock?.rows
  return { columns, rows, total: typeof total === 'number' ? total : rows.length }
}

const MAX_CSV_ROWS = 1_000

/** Rows of CSV or TSV text, quotes included. The first row names the columns; numbers become numbers, so that they sort as such. */
export function csvTable(text: string, separator: string): TableData {
  const rows: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  const endCell = (): void => {
    rows.at(-1)?.push(cell)
    cell = ''
  }
  for (let i = 0; i < text.length && rows.length <= MAX_CSV_ROWS + 1; i++) {
    const char = text.charAt(i)
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[i + 1] === '"') cell += text.charAt(++i)
      else isQuoted = false
    } else if (char === '"' && cell === '') isQuoted = true
    else if (char === separator) endCell()
    else if (char === '\n') {
      endCell()
      rows.push([])
    } else if (char !== '\r') cell += char
  }
  if (cell !== '' || rows.at(-1)?.length !== 0) endCell()
  const [columns = [], ...body] = rows.filter((row) => row.length > 1 || (row[0] ?? '') !== '')
  const values = body.map((row) => row.map((value) => (/^-?\d{1,15}(?:\.\d+)?$/.test(value) ? Number(value) : value)))
  return { columns, rows: values, total: values.length }
}

/** How many rows and columns CSV or TSV text has; its first row, which names the columns, and empty lines are no rows. */
export function csvShape(text: string, separator: string): { readonly rows: number; readonly columns: number } {
  let lines = 0
  let isQuoted = false
  let isEmpty = true
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '"') isQuoted = !isQuoted
    if (char === '\n' && !isQuoted) {
      if (!isEmpty) lines += 1
      isEmpty = true
    } else if (char !== '\r') isEmpty = false
  }
  if (!isEmpty) lines += 1
  return { rows: Math.max(0, lines - 1), columns: csvTable(text, separator).columns.length }
}
