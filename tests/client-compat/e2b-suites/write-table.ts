import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { whyFailed, whyNotOffered } from './reasons.ts'
import type { TestResult } from './run-suite.ts'
import type { E2bSuite } from './suites.ts'

export interface SuiteResult {
  readonly suite: E2bSuite
  readonly tests: readonly TestResult[]
}

const PAGE = join(import.meta.dirname, '../../../docs/clients.md')
const BEGIN = '<!-- e2b-suites:begin -->\n'
const END = '<!-- e2b-suites:end -->'
const PERCENT = 100

interface Row {
  readonly name: string
  readonly passed: number
  readonly failed: readonly TestResult[]
  readonly notOffered: readonly TestResult[]
}

function rowOf({ suite, tests }: SuiteResult): Row {
  const notOffered = tests.filter((test) => !test.isPassed && whyNotOffered(test) !== null)
  const servable = tests.filter((test) => !notOffered.includes(test))
  return {
    name: suite.name,
    passed: servable.filter(({ isPassed }) => isPassed).length,
    failed: servable.filter(({ isPassed }) => !isPassed),
    notOffered,
  }
}

const share = ({ passed, failed }: Row): string => `${Math.round((passed / Math.max(1, passed + failed.length)) * PERCENT)} %`

/** The tests of a list under each reason. */
function byReason(tests: readonly TestResult[], reasonOf: (test: TestResult) => string): readonly string[] {
  const groups = Map.groupBy(tests, reasonOf)
  return [...groups].map(([why, group]) => `* ${escaped(why)}: ${group.map(({ file, title }) => `\`${file} › ${title}\``).join(', ')}`)
}

const escaped = (line: string): string => line.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;')

/** Prints each suite's figures and every failing test with its reason, and writes them into docs/clients.md. Returns whether nothing failed. */
export function writeE2bTable(results: readonly SuiteResult[], isWritten: boolean): boolean {
  const rows = results.map(rowOf)
  const lines = [
    '| Suite | Passes | Fails | Not offered |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.name} | ${row.passed} (${share(row)}) | ${row.failed.length} | ${row.notOffered.length} |`),
    '',
    ...rows.flatMap((row) => [
      ...(row.failed.length === 0 ? [] : [`${row.name}, fails:`, '', ...byReason(row.failed, whyFailed), '']),
      ...(row.notOffered.length === 0
        ? []
        : [`${row.name}, not offered:`, '', ...byReason(row.notOffered, (test) => whyNotOffered(test) ?? ''), '']),
    ]),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  if (isWritten) {
    const page = readFileSync(PAGE, 'utf8')
    const [begin, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)]
    if (begin < BEGIN.length || end < begin) throw new Error('docs/clients.md has no marks of the table of the E2B suites')
    writeFileSync(PAGE, `${page.slice(0, begin)}\n${lines.join('\n')}${page.slice(end)}`)
  }
  return rows.every(({ failed }) => failed.length === 0)
}
