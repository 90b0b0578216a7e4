import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startServer } from '../../support/local-server.ts'
import { unpackCommit } from '../unpack-commit.ts'
import { OPERATOR_KEY, startOperatorRelay } from './operator-relay.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')
const COPIES = join(ROOT, '.cellblock/n8n-suites')
const REPOSITORY = 'n8n-sandbox-service'
/** The specs of this commit, whatever the clone has checked out. */
const COMMIT = 'fbd5f03'
/** Those of the API and of isolation. The others start and stop n8n's own runners, and read their metrics. */
const SPECS = ['sandbox-api', 'file-exec-consistency', 'resumable-exec', 'network-isolation'] as const
const PAGE = join(ROOT, 'docs/clients.md')
const BEGIN = '<!-- n8n-suites:begin -->\n'
const END = '<!-- n8n-suites:end -->'

/** Why a test does not pass, by its title: differences by decision. */
const DIFFERENT: readonly (readonly [test: RegExp, why: string])[] = [
  [
    /claim another tenant client-supplied/,
    'two accounts may use the same UUID, because the answer that it is taken would tell one about the other',
  ],
  [
    /visible to exec|exec can read file with spaces/,
    "n8n's service ends the last line of the output with a line break, also if the program did not; here output is what the program wrote",
  ],
  [/public internet|DNS resolution/, 'no network, unless the operator and the policy of the account allow hosts'],
  [
    /cannot reach each other|cannot reach the runner|adding an address/,
    'the test begins with the address of the sandbox in a network, and a sandbox is in none',
  ],
]

interface TestResult {
  readonly title: string
  readonly isPassed: boolean
  readonly message: string
}

interface Suite {
  readonly title: string
  readonly suites?: readonly Suite[]
  readonly specs?: readonly {
    readonly title: string
    readonly ok: boolean
    readonly tests: readonly {
      readonly results: readonly { readonly status: string; readonly errors?: readonly { readonly message?: string }[] }[]
    }[]
  }[]
}

/** Runs n8n's own end-to-end specs from a clone in `folder`. Returns whether every test passes that this server has to pass. */
export async function runN8nSuites({ folder, isWritten }: { readonly folder: string; readonly isWritten: boolean }): Promise<boolean> {
  await prepare(folder)
  const server = await startServer({ env: { CELLBLOCK_POOL: '2', CELLBLOCK_POOL_MAX: '4' } })
  const relay = await startOperatorRelay(server)
  const report = join(COPIES, 'report.json')
  try {
    await rm(report, { force: true })
    const cli = join(COPIES, 'node_modules/@playwright/test/cli.js')
    const env = { ...process.env, BASE_URL: relay.url, SANDBOX_API_KEY: OPERATOR_KEY, PLAYWRIGHT_JSON_OUTPUT_NAME: report }
    const args = ['test', '--config', 'playwright.config.ts', '--max-failures', '0', '--reporter', 'line,json', ...SPECS]
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: join(COPIES, REPOSITORY, 'e2e'),
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    await once(child, 'exit')
  } finally {
    relay.stop()
    await server.stop()
  }
  return publish(testsOf((JSON.parse(await readFile(report, 'utf8')) as Suite).suites ?? []), isWritten)
}

async function prepare(folder: string): Promise<void> {
  await unpackCommit({ folder, owner: 'n8n-io', repository: REPOSITORY, commit: COMMIT, path: 'e2e', target: join(COPIES, REPOSITORY) })
  const [wanted, installed] = [join(import.meta.dirname, 'package.json'), join(COPIES, 'package.json')]
  const present = await readFile(installed, 'utf8').catch(() => null)
  if (present === (await readFile(wanted, 'utf8')) && existsSync(join(COPIES, 'node_modules/@playwright/test'))) return
  await copyFile(wanted, installed)
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: COPIES })
}

const testsOf = (suites: readonly Suite[]): readonly TestResult[] =>
  suites.flatMap(({ title, suites: inner = [], specs = [] }) => [
    ...specs.map((spec) => ({
      title: `${title} › ${spec.title}`,
      isPassed: spec.ok,
      message: spec.tests[0]?.results[0]?.errors?.[0]?.message?.split('\n')[0] ?? '',
    })),
    ...testsOf(inner),
  ])

/** Prints the figures and every failing test with its reason, and writes them into docs/clients.md. Returns whether nothing failed without one. */
async function publish(tests: readonly TestResult[], isWritten: boolean): Promise<boolean> {
  const missed = tests.filter(({ isPassed }) => !isPassed)
  const reasonOf = ({ title }: TestResult): string | null => DIFFERENT.find(([test]) => test.test(title))?.[1] ?? null
  const failed = missed.filter((test) => reasonOf(test) === null)
  const groups = Map.groupBy(missed, (test) => reasonOf(test) ?? `fails: ${test.message}`)
  const lines = [
    `${tests.length - missed.length} of ${tests.length} tests of ${SPECS.map((name) => `\`${name}\``).join(', ')} pass. The others:`,
    '',
    ...[...groups].map(([why, group]) => `* ${why}: ${group.map(({ title }) => `\`${title}\``).join(', ')}`),
    '',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  if (isWritten) await write(lines)
  return failed.length === 0
}

async function write(lines: readonly string[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)]
  if (begin < BEGIN.length || end < begin) throw new Error('docs/clients.md has no marks of the figures of the specs of n8n')
  await writeFile(PAGE, `${page.slice(0, begin)}\n${lines.join('\n')}${page.slice(end)}`)
}
