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
  readonly python: string
  /** Address and key of the server, as E2B's clients read them. */
  readonly env: Readonly<Record<string, string>>
}

const WORKERS = '2'
/** A busy machine exceeds the time limits of single tests, so a failing test runs again. */
const RETRIES = '1'
const MAX_MESSAGE_CHARACTERS = 160

/** Runs a suite and returns its tests without those that it skips itself. */
export function runE2bSuite(suite: E2bSuite, place: Place): Promise<readonly TestResult[]> {
  return suite.runner === 'vitest' ? runVitest(suite, place) : runPytest(suite, place)
}

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
  const cwd = join(root, suite.repository, suite.folder)
  const [config, report] = ['cellblock.vitest.config.mjs', 'cellblock.report.json'].map((name) => join(cwd, name)) as [string, string]
  const test = {
    include: suite.include,
    exclude: suite.exclude,
    testTimeout: 30_000,
    setupFiles: suite.repository === 'E2B' ? ['tests/globalFetchFallback.setup.ts'] : [],
  }
  await writeFile(config, `export default ${JSON.stringify({ test })}\n`)
  await rm(report, { force: true })
  const args = ['run', '--config', config, '--maxWorkers', WORKERS, '--retry', RETRIES, '--reporter', 'json', '--outputFile', report]
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

async function runPytest(suite: E2bSuite, { root, python, env }: Place): Promise<readonly TestResult[]> {
  const cwd = join(root, suite.repository, suite.folder)
  const report = join(cwd, 'cellblock.report.xml')
  await rm(report, { force: true })
  const common = ['-q', '-p', 'no:cacheprovider', '--timeout', '60', '--numprocesses', WORKERS, '--junitxml', report]
  const wanted = [...suite.include, ...suite.exclude.map((path) => `--ignore=${path}`)]
  await run(python, ['-m', 'pytest', ...common, ...wanted], { cwd, env })
  const first = testCases(await readFile(report, 'utf8'))
  const failed = first.filter(({ isPassed }) => !isPassed)
  if (failed.length === 0) return first
  await run(python, ['-m', 'pytest', ...common, ...failed.map(({ file, title }) => `${file}::${title}`)], { cwd, env })
  const again = new Map(testCases(await readFile(report, 'utf8')).map((test) => [`${test.file}::${test.title}`, test]))
  return first.map((test) => again.get(`${test.file}::${test.title}`) ?? test)
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
