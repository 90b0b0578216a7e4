import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import { ensurePythonPackages } from '../../../scripts/setup/python-packages.ts'
import { ensureSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import { startServer } from '../../support/local-server.ts'
import { unpackCommit } from '../unpack-commit.ts'
import { startInternet } from './internet.ts'
import { runE2bSuite, type TestResult } from './run-suite.ts'
import { E2B_SUITES, type E2bSuite, type SuiteSource } from './suites.ts'
import { writeE2bTable, type SuiteResult } from './write-table.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')
const COPIES = join(ROOT, '.cellblock/e2b-suites')
const MAX_OUTPUT_BYTES = 16 * 1024 ** 2

/**
 * Runs E2B's own suites, and those of others for its wire, from checkouts in `folder` against a server with the image that they need. `only` is a part of a suite's name. Returns whether every
 * test passes that this server has to pass.
 */
export async function runE2bSuites({
  folder,
  only = '',
  isWritten,
}: {
  readonly folder: string
  readonly only?: string | undefined
  readonly isWritten: boolean
}): Promise<boolean> {
  const suites = E2B_SUITES.filter(({ name }) => name.toLowerCase().includes(only.toLowerCase()))
  const problems = new Map<E2bSuite, string>()
  for (const suite of suites)
    await prepare(suite, folder).catch((error: unknown) => problems.set(suite, error instanceof Error ? error.message : String(error)))
  for (const variant of ['standard', 'full'] as const)
    for (const hasNetwork of [false, true]) {
      const isOwn = (suite: E2bSuite): boolean => (suite.image ?? 'standard') === variant && (suite.hasNetwork ?? false) === hasNetwork
      const runnable = suites.filter((one) => !problems.has(one) && isOwn(one))
      if (runnable.length > 0) await runOn(variant, runnable)
    }
  const isComplete = writeE2bTable(await latestResults(), isWritten)
  for (const [{ name }, problem] of problems) say(`not run: ${name}: ${problem}`)
  return isComplete && problems.size === 0
}

/** Runs suites against a server with one image, all with a network or all without, and stores their results. */
async function runOn(variant: 'standard' | 'full', suites: readonly E2bSuite[]): Promise<void> {
  const image = await ensureSandboxImage((line) => say(line), { variant })
  await using internet = suites[0]?.hasNetwork === true ? await startInternet() : null
  const server = await startServer({
    env: { SANDBOX_PRELOAD: '', CELLBLOCK_POOL: internet === null ? '2' : '4', CELLBLOCK_SANDBOX_IMAGE: image, ...internet?.env },
  })
  try {
    await internet?.open(server)
    const address = `${server.url}/e2b`
    const env = {
      E2B_API_URL: address,
      // The form of E2B's keys, which older clients demand.
      E2B_API_KEY: `e2b_${Buffer.from(server.apiKey).toString('hex')}`,
      ...internet?.testsEnv,
    }
    for (const suite of suites) {
      say(`▸ ${suite.name}`)
      const suiteEnv = suite.usesHostNames === true ? env : { ...env, E2B_SANDBOX_URL: address }
      const tests = await runE2bSuite(suite, { root: COPIES, pythons: join(COPIES, 'pythons'), env: suiteEnv })
      await writeFile(resultOf(suite), JSON.stringify(tests))
    }
  } finally {
    await server.stop()
  }
}

const resultOf = ({ name, source }: E2bSuite): string =>
  join(COPIES, `${name.replaceAll(/\W+/g, '-')}-${source?.commit ?? 'packages'}.json`)

/** Throws when the checkout or a package is missing. */
async function prepare(suite: E2bSuite, folder: string): Promise<void> {
  if (suite.source !== null) await copySources(suite.source, folder)
  if (suite.python === undefined) await installNodePackages()
  else await installPythonPackages(suite.python)
}

/** The latest result of each suite, also of an earlier call, so that the suites can run one by one. */
async function latestResults(): Promise<readonly SuiteResult[]> {
  const read = await Promise.all(
    E2B_SUITES.map(async (suite) => [suite, await readFile(resultOf(suite), 'utf8').catch(() => null)] as const),
  )
  return read.flatMap(([suite, text]) => (text === null ? [] : [{ suite, tests: JSON.parse(text) as readonly TestResult[] }]))
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** The files of the pinned commit, whatever the checkout has. */
async function copySources({ owner, repository, commit }: SuiteSource, folder: string): Promise<void> {
  const target = join(COPIES, repository)
  const mark = join(target, `.commit-${commit}`)
  if (existsSync(mark)) return
  await unpackCommit({ folder, owner, repository, commit, target })
  await copyFile(join(import.meta.dirname, 'package.json'), mark)
}

async function installNodePackages(): Promise<void> {
  const [wanted, installed] = [join(import.meta.dirname, 'package.json'), join(COPIES, 'package.json')]
  const [text, present] = await Promise.all([wanted, installed].map((path) => readFile(path, 'utf8').catch(() => null)))
  if (text === present && existsSync(join(COPIES, 'node_modules/vitest'))) return
  say('▸ npm install')
  await mkdir(COPIES, { recursive: true })
  await copyFile(wanted, installed)
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: COPIES, maxBuffer: MAX_OUTPUT_BYTES })
}

async function installPythonPackages(name: string): Promise<void> {
  const python = { folder: join(COPIES, 'pythons', name), requirements: join(import.meta.dirname, 'requirements', `${name}.txt`) }
  await mkdir(join(COPIES, 'pythons'), { recursive: true })
  await ensurePythonPackages(python, { config: readSetupConfig(), mayInstall: false }, (line) => say(line))
}
