import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One line of the pass table. */
export interface ClientRow {
  readonly client: string
  readonly covers: string
  /** Null when it passed. */
  readonly problem: string | null
}

const PAGE = join(import.meta.dirname, '../../docs/clients.md')
const BEGIN = '<!-- pass-table:begin -->\n'
const END = '<!-- pass-table:end -->'

const lineOf = ({ client, covers, problem }: ClientRow): string =>
  `| ${client} | ${covers} | ${problem === null ? 'passes' : '**fails**'} |`

/**
 * Writes rows into the table of docs/clients.md, in the order of `order`. Rows of clients that did not run stay as they are, so the command can run in
 * pieces; those of unknown clients are removed.
 */
export function writePassTable(rows: readonly ClientRow[], order: readonly string[]): void {
  const text = readFileSync(PAGE, 'utf8')
  const [begin, end] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)]
  if (begin < BEGIN.length || end < begin) throw new Error('docs/clients.md has no marks of the pass table')
  const known = text
    .slice(begin, end)
    .split('\n')
    .map((line) => [line.split('|')[1]?.trim() ?? '', line] as const)
  const lines = new Map([...known, ...rows.map((row) => [row.client, lineOf(row)] as const)])
  const table = order.flatMap((client) => lines.get(client) ?? [])
  writeFileSync(PAGE, `${text.slice(0, begin)}| Client | Covers | Result |\n|---|---|---|\n${table.join('\n')}\n${text.slice(end)}`)
}
