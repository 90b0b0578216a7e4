import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand, TIMED_OUT } from '../../../scripts/setup/command.ts'
import { MINIMAL_ENVIRONMENT, startHarness } from '../harness/harness.ts'
import { runPrograms } from '../harness/run-programs.ts'
import { SELF_TEST_DISABLED } from '../control/disabled-protections.ts'
import { PROGRAMS } from '../corpus/registry.ts'
import { copyProject, type ProjectCopy } from '../copy-project.ts'
import type { Mutant } from './mutant.ts'
import { isTimeLimit, verdictOf, type Failure, type Verdict } from './verdict.ts'

export interface MutantsResult {
  readonly tried: number
  readonly killed: number
  readonly survivors: readonly string[]
  readonly timedOut: readonly string[]
}

/** More lanes than cores, because each mostly waits for the engine. */
const LANES = 3
/** For one test file; generous, because other suites may use the machine. */
const TIMEOUT_SECONDS = 600

/** The part of a vitest report that decides. A file that cannot be loaded, or whose `beforeAll` fails, has its own message. */
interface TestReport {
  readonly success: boolean
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly { readonly title: string; readonly failureMessages: readonly string[] | null }[]
  }[]
}

/** Why the killer fails; null if it passes. Throws if its tests did not run. */
async function failureOf(copy: ProjectCopy, { killer }: Pick<Mutant, 'killer'>): Promise<Failure | null> {
  return 'test' in killer ? testFailure(copy, killer.test, killer.only) : programsFailure(copy, killer.programs)
}

async function testFailure({ root, image }: ProjectCopy, test: string, only: string | undefined): Promise<Failure | null> {
  const report = join(root, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--reporter=json', `--outputFile=${report}`, ...(only === undefined ? [] : ['-t', only]), test]
  const { code, output } = await runCommand(process.execPath, args, {
    cwd: root,
    env: { ...process.env, CELLBLOCK_SANDBOX_IMAGE: image },
    timeoutSeconds: TIMEOUT_SECONDS,
  })
  if (code === TIMED_OUT) return { message: `${test} did not end within ${TIMEOUT_SECONDS} seconds.`, isTimeout: true }
  const text = await readFile(report, 'utf8').catch(() => null)
  if (text === null) throw new Error(`${test} did not run:\n${output.slice(-2_000)}`)
  const { success, numPassedTests, numFailedTests, testResults } = JSON.parse(text) as TestReport
  if (success && numPassedTests + numFailedTests === 0)
    throw new Error(`${test} has no test${only === undefined ? '' : ` with the title ${only}`}.`)
  if (success) return null
  const errors = testResults
    .flatMap(({ message, assertionResults }) => [
      { title: '', message },
      ...assertionResults.flatMap(({ title, failureMessages }) => (failureMessages ?? []).map((failure) => ({ title, message: failure }))),
    ])
    .filter(({ message }) => message !== '')
  return {
    message: errors.map(({ title, message }) => `${title}: ${message}`).join('\n') || output.slice(-2_000),
    isTimeout: errors.length > 0 && errors.every(({ message }) => isTimeLimit(message)),
  }
}

async function programsFailure({ root, image }: ProjectCopy, ids: readonly string[]): Promise<Failure | null> {
  const programs = PROGRAMS.filter(({ id }) => ids.includes(id))
  if (programs.length !== ids.length) throw new Error(`Some of these programs do not exist: ${ids.join(', ')}`)
  const harness = await startHarness({ image, root, env: () => MINIMAL_ENVIRONMENT })
  try {
    const verdicts = await runPrograms(harness, programs)
    const failed = verdicts.filter(({ isTyped, failures }) => !isTyped || failures.length > 0)
    const reasons = [
      ...failed.map(({ program, failures }) => [program.id, ...failures].join(': ')),
      ...(await harness.hits()).map(({ tripwire }) => `tripwire ${tripwire}`),
    ]
    return reasons.length === 0 ? null : { message: reasons.join('\n'), isTimeout: false }
  } finally {
    await harness.stop()
  }
}

/** A test that kills a mutant must pass on the unchanged source. Throws if one does not. */
async function checkBaseline(image: string, mutants: readonly Mutant[]): Promise<void> {
  await using copy = await copyProject(image, [])
  const killers = new Map(mutants.map((mutant) => [JSON.stringify(mutant.killer), mutant]))
  const programs = [...killers.values()].flatMap(({ killer }) => ('programs' in killer ? killer.programs : []))
  const whole: Pick<Mutant, 'killer'>[] = [...killers.values()].filter(({ killer }) => 'test' in killer)
  if (programs.length > 0) whole.push({ killer: { programs: [...new Set(programs)] } })
  for (const one of whole) {
    const failure = await failureOf(copy, one)
    if (failure !== null) throw new Error(`Fails without any mutation: ${JSON.stringify(one.killer)}\n${failure.message.slice(0, 4_000)}`)
  }
}

/**
 * Removes one protection after another, each in its own copy of the project, and checks that a test fails. For programs of the corpus the
 * supervisor's self-test is disabled, because it would refuse the sandbox first.
 */
export async function runMutants(image: string, mutants: readonly Mutant[], log: (line: string) => void): Promise<MutantsResult> {
  await checkBaseline(image, mutants)
  const ended: Record<Verdict, string[]> = { killed: [], survives: [], 'timed out': [] }
  const waiting = mutants.values()
  const lane = async (): Promise<void> => {
    for (const mutant of waiting) {
      await using copy = await copyProject(image, 'programs' in mutant.killer ? [SELF_TEST_DISABLED, ...mutant.edits] : mutant.edits)
      const verdict = verdictOf(mutant, await failureOf(copy, mutant))
      ended[verdict].push(mutant.protection)
      log(`${verdict.padEnd(9)} ${mutant.protection}`)
    }
  }
  // Wait for every lane, so that a failed lane does not leave the sandboxes of another.
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane))
  for (const end of lanes) if (end.status === 'rejected') throw end.reason
  return { tried: mutants.length, killed: ended.killed.length, survivors: ended.survives, timedOut: ended['timed out'] }
}
