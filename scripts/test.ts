// `npm test`: static checks, then tests; the last line is `N passed, N failed`. `--with-account` adds the suite of the emulated account, which is
// cached like a build step: it runs once per input. `--long` adds its calls of minutes. Other arguments go to vitest, which then runs alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHECK_NAMES } from './checks.ts'
import { runCheck } from './run-check.ts'
import { readSetupConfig } from './setup/config.ts'
import { countTests, suiteSeconds, summaryLine, type SuiteCounts, type TestCounts } from './test-results.ts'
import { ACCOUNT_INPUTS, createPassRecords, runAndRecord, runUnlessRecorded, type PassRecord } from './test-cache.ts'

const ROOT = join(import.meta.dirname, '..')
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const RETRIED_TESTS = join(ROOT, 'tests', 'setup', 'retried-tests.ts')

/** Seconds per suite, printed before the summary. Suites that run side by side overlap. */
const durations: string[] = []

const given = process.argv.slice(2)
const environment = (): NodeJS.ProcessEnv => ({
  ...readSetupConfig().environment,
  ...(given.includes('--long') && { CELLBLOCK_LONG_CALLS: '1' }),
})

async function runVitest(args: readonly string[]): Promise<SuiteCounts> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-test-'))
  const report = join(folder, 'report.json')
  try {
    const vitest = spawn(
      process.execPath,
      [VITEST, 'run', '--reporter=default', '--reporter=json', `--reporter=${RETRIED_TESTS}`, `--outputFile.json=${report}`, ...args],
      { env: environment(), stdio: ['ignore', 'inherit', 'inherit'] },
    )
    const forward = (signal: NodeJS.Signals): void => {
      vitest.kill(signal)
      vitest.once('exit', () => process.exit(128 + constants.signals[signal]))
    }
    process.once('SIGTERM', forward).once('SIGINT', forward).once('SIGHUP', forward)
    const [code] = (await once(vitest, 'exit')) as [number | null]
    const text = await readFile(report, 'utf8').catch(() => undefined)
    durations.push(...suiteSeconds(text).map(({ suite, seconds }) => `${suite} ${seconds} s`))
    return countTests(text, code ?? 1)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const ACCOUNT = ['--project', 'aws']
const passRecords = createPassRecords({ root: ROOT, inputs: ACCOUNT_INPUTS, folder: join(ROOT, '.cellblock', 'passed') })
const args = given.filter((argument) => argument !== '--long')
const hasAccount = args.join(' ') === '--with-account'
const runAccount = (): Promise<SuiteCounts> => runVitest(ACCOUNT)
const printSkipped = ({ at, tests, seconds }: PassRecord): void =>
  console.log(
    `\nSkipped the emulated AWS account: the same input passed at ${at} (${tests} tests in ${seconds} s). Not counted. Run it with npm run test:aws.`,
  )

const counts: TestCounts[] = []
if (args.length === 0 || hasAccount) {
  const startedAt = performance.now()
  for (const isGood of await Promise.all(CHECK_NAMES.map(runCheck))) counts.push({ passed: isGood ? 1 : 0, failed: isGood ? 0 : 1 })
  durations.push(`static checks ${Math.round((performance.now() - startedAt) / 1000)} s`)
  counts.push(await runVitest(['--project', '!aws', '--project', '!gvisor']))
  // After the other suites: beside them, both met time limits on two cores.
  if (hasAccount) counts.push(...(await runUnlessRecorded(passRecords, runAccount, printSkipped)))
} else counts.push(await (args.join(' ') === ACCOUNT.join(' ') ? runAndRecord(passRecords, runAccount) : runVitest(args)))
if (durations.length > 0) console.log(`\nSeconds per suite: ${durations.join(', ')}`)
console.log(`\n${summaryLine(counts)}`)
if (counts.some(({ failed }) => failed > 0)) process.exitCode = 1
