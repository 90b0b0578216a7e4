import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../../../scripts/setup/command.ts'
import { LIGHT, startArena } from '../arena/arena.ts'
import { runPrograms } from '../arena/run-programs.ts'
import { SELF_TEST_OFF } from '../control/walls-off.ts'
import { PROGRAMS } from '../corpus/registry.ts'
import { copyProject, type ProjectCopy } from './copy-project.ts'
import type { Mutant } from './mutants.ts'

export interface MutantsResult {
  readonly tried: number
  readonly killed: number
  readonly survivors: readonly string[]
}

/** More than cores: much of each is waiting for the engine. */
const LANES = 3
/** For one file of tests on a machine that is busy with others. */
const PATIENCE_SECONDS = 600

/** True when the tests find nothing to complain of. Throws when they did not run at all. */
async function passes(copy: ProjectCopy, { killer }: Pick<Mutant, 'killer'>): Promise<boolean> {
  return 'test' in killer ? testPasses(copy, killer.test, killer.only) : programsPass(copy, killer.programs)
}

async function testPasses({ root, image }: ProjectCopy, test: string, only: string | undefined): Promise<boolean> {
  const report = join(root, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--reporter=json', `--outputFile=${report}`, ...(only === undefined ? [] : ['-t', only]), test]
  const { output } = await runCommand(process.execPath, args, {
    cwd: root,
    env: { ...process.env, CELLBLOCK_SANDBOX_IMAGE: image },
    timeoutSeconds: PATIENCE_SECONDS,
  })
  const text = await readFile(report, 'utf8').catch(() => null)
  if (text === null) throw new Error(`${test} did not run:\n${output.slice(-2_000)}`)
  const { success, numPassedTests, numFailedTests } = JSON.parse(text) as Record<'numPassedTests' | 'numFailedTests', number> & {
    success: boolean
  }
  if (success && numPassedTests + numFailedTests === 0)
    throw new Error(`${test} has no test${only === undefined ? '' : ` called ${only}`}.`)
  return success
}

async function programsPass({ root, image }: ProjectCopy, ids: readonly string[]): Promise<boolean> {
  const programs = PROGRAMS.filter(({ id }) => ids.includes(id))
  if (programs.length !== ids.length) throw new Error(`Some of these programs do not exist: ${ids.join(', ')}`)
  const arena = await startArena({ image, root, env: () => LIGHT })
  try {
    const verdicts = await runPrograms(arena, programs)
    return verdicts.every(({ isTyped, faults }) => isTyped && faults.length === 0) && (await arena.hits()).length === 0
  } finally {
    await arena.stop()
  }
}

/** What kills a mutant has to pass without it, or it proves nothing. Throws when it does not. */
async function checkBaseline(image: string, mutants: readonly Mutant[]): Promise<void> {
  await using copy = await copyProject(image, [])
  const killers = new Map(mutants.map((mutant) => [JSON.stringify(mutant.killer), mutant]))
  const programs = [...killers.values()].flatMap(({ killer }) => ('programs' in killer ? killer.programs : []))
  const whole: Pick<Mutant, 'killer'>[] = [...killers.values()].filter(({ killer }) => 'test' in killer)
  if (programs.length > 0) whole.push({ killer: { programs: [...new Set(programs)] } })
  for (const one of whole) if (!(await passes(copy, one))) throw new Error(`Fails without any mutation: ${JSON.stringify(one.killer)}`)
}

/**
 * Takes out one protection after another, each in a copy of its own, and sees whether something notices. Where programs of the corpus have to,
 * the self-test at start is off, for it would refuse the sandbox before they run.
 */
export async function runMutants(image: string, mutants: readonly Mutant[], say: (line: string) => void): Promise<MutantsResult> {
  await checkBaseline(image, mutants)
  const survivors: string[] = []
  const waiting = mutants.values()
  const lane = async (): Promise<void> => {
    for (const mutant of waiting) {
      await using copy = await copyProject(image, 'programs' in mutant.killer ? [SELF_TEST_OFF, ...mutant.edits] : mutant.edits)
      const isAlive = await passes(copy, mutant)
      if (isAlive) survivors.push(mutant.protection)
      say(`${isAlive ? 'SURVIVES' : 'killed  '} ${mutant.protection}`)
    }
  }
  // A lane that fails does not leave another one's sandboxes behind.
  const ended = await Promise.allSettled(Array.from({ length: LANES }, lane))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return { tried: mutants.length, killed: mutants.length - survivors.length, survivors }
}
