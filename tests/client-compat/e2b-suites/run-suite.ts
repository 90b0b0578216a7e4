import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { E2bSuite } from './suites.ts'

export interface TestResult {
  /** In the package. */
  readonly file: string
  readonly title: string
  readonly isPassed: boolean
  /** The first line of a failure; empty for a test that passed. */
  readonly message: string
}

interface Place {
  /** Copies of the checkouts, beside the packages that they import. */
  readonly root: string
  /** Virtual environments, by the names of their requirements. */
  readonly pythons: string
  /** Address and key of the server, as E2B's clients read them. */
  readonly env: Readonly<Record<string, string>>
}

const WORKERS = '2'
/** A busy machine exceeds the time limits of single tests, so a failing test runs again. */
const RETRIES = '1'
/** The programs of this repository mark no test as asynchronous, and tests of one file share a sandbox. */
const ASYNCIO = ['asyncio_mode=auto', 'asyncio_default_test_loop_scope=module'].flatMap((option) => ['-o', option])
const MAX_MESSAGE_CHARACTERS = 160

const PROGRAMS = join(import.meta.dirname, 'programs')

/** Runs a suite and returns its tests without those that it skips itself. */
export async function runE2bSuite(suite: E2bSuite, place: Place): Promise<readonly TestResult[]> {
  const run = () => (suite.runner === 'vitest' ? runVitest(suite, place) : runPytest(suite, place))
  let tests = await run()
  for (let repeat = 1; repeat < (suite.repeats ?? 1); repeat++) {
    const again = new Map((await run()).map((test) => [nameOf(test), test]))
    tests = tests.map((test) =>
      test.isPassed ? (again.get(nameOf(test)) ?? { ...test, isPassed: false, message: 'did not run again' }) : test,
    )
  }
  return tests
}

/** The folder in which a suite runs. */
const folderOf = ({ source }: E2bSuite, root: string): string => (source === null ? PROGRAMS : join(root, source.repository, source.folder))

const nameOf = ({ file, title }: TestResult): string => `${file}::${title}`

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, MAX_MESSAGE_CHARACTERS) ?? ''

async function run(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Place['env'] },
): Promise<void> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] })
  await once(child, 'exit')
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

async function runVitest(suite: E2bSuite, { root, env }: Place): Promise<readonly TestResult[]> {
  const cwd = folderOf(suite, root)
  const [config, report] = ['cellblock.vitest.config.mjs', 'cellblock.report.json'].map((name) => join(cwd, name)) as [string, string]
  const test = {
    include: suite.include,
    exclude: suite.exclude,
    testTimeout: 30_000,
    setupFiles: suite.source?.repository === 'E2B' ? ['tests/globalFetchFallback.setup.ts'] : [],
  }
  const alias = Object.fromEntries(Object.entries(suite.alias ?? {}).map(([name, path]) => [name, join(cwd, path)]))
  await writeFile(config, `export default ${JSON.stringify({ test, resolve: { alias } })}\n`)
  await rm(report, { force: true })
  const only = suite.only === undefined ? [] : ['--testNamePattern', suite.only.join('|')]
  const args = [
    'run',
    ...only,
    '--config',
    config,
    '--maxWorkers',
    WORKERS,
    '--retry',
    RETRIES,
    '--reporter',
    'json',
    '--outputFile',
    report,
  ]
  await run(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], { cwd, env })
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as VitestReport
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ fullName, status, failureMessages = [] }) => ({
        file: relative(cwd, name),
        title: fullName.trim(),
        isPassed: status === 'passed',
        message: firstLine(failureMessages[0] ?? ''),
      })),
  )
}

async function runPytest(suite: E2bSuite, { root, pythons, env }: Place): Promise<readonly TestResult[]> {
  const cwd = folderOf(suite, root)
  const report = join(root, `pytest-report-${process.pid}.xml`)
  const common = ['-q', '-p', 'no:cacheprovider', '--timeout', '60', '--numprocesses', WORKERS, '--junitxml', report]
  const own = suite.source === null ? ['--dist', 'loadfile', ...ASYNCIO] : []
  const pytest = async (wanted: readonly string[]): Promise<readonly TestResult[]> => {
    await rm(report, { force: true })
    const python = join(pythons, suite.python ?? '', 'bin/python')
    await run(python, ['-m', 'pytest', ...common, ...own, ...wanted], { cwd, env: { ...env, PYTHONDONTWRITEBYTECODE: '1' } })
    const tests = testCases(await readFile(report, 'utf8'))
    await rm(report)
    return tests
  }
  const only = suite.only === undefined ? [] : ['-k', suite.only.join(' or ')]
  const first = await pytest([...only, ...suite.include, ...suite.exclude.map((path) => `--ignore=${path}`)])
  const failed = first.filter(({ isPassed }) => !isPassed)
  if (failed.length === 0 || suite.repeats !== undefined) return first
  const again = new Map((await pytest(failed.map(nameOf))).map((test) => [nameOf(test), test]))
  return first.map((test) => again.get(nameOf(test)) ?? test)
}

const CASE = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>([^]*?)<\/testcase>)/g
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' }
const text = (xml: string): string =>
  xml.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity).replaceAll(/&#10;/g, '\n')

/** The tests of pytest's own report (JUnit XML). */
export const testCases = (xml: string): readonly TestResult[] =>
  [...xml.matchAll(CASE)].flatMap(([, classname = '', name = '', body = '']) => {
    if (body.includes('<skipped')) return []
    const problem = /<(?:failure|error) message="([^"]*)"/.exec(body)?.[1]
    return [
      {
        file: `${classname.replaceAll('.', '/')}.py`,
        title: text(name),
        isPassed: problem === undefined,
        message: firstLine(text(problem ?? '')),
      },
    ]
  })
