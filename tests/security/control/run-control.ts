import { startHarness } from '../harness/harness.ts'
import { runPrograms } from '../harness/run-programs.ts'
import type { Program, Tripwire } from '../../../scripts/hostile-programs/program.ts'
import { copyProject } from '../copy-project.ts'
import { DISABLED_PROTECTIONS } from './disabled-protections.ts'

export interface ControlResult {
  readonly aimed: number
  readonly tripped: number
  /** `program → tripwire` for each tripwire that was not touched. */
  readonly untouched: readonly string[]
}

/** Runs the programs that aim at tripwires with every protection disabled. A tripwire that stays untouched here proves nothing elsewhere. */
export async function runControl(image: string, programs: readonly Program[]): Promise<ControlResult> {
  await using copy = await copyProject(image, DISABLED_PROTECTIONS)
  const harness = await startHarness({
    image: copy.image,
    root: copy.root,
    env: ({ targets, folder }) => ({ CELLBLOCK_CONTROL_GATEWAY: targets.gateway, CELLBLOCK_CONTROL_FOLDER: folder }),
  })
  try {
    const verdicts = await runPrograms(
      harness,
      programs.filter(({ aims }) => aims !== undefined),
    )
    const hits = await harness.hits()
    const untouched: string[] = []
    let aimed = 0
    for (const { program, failures, token, isTyped } of verdicts)
      for (const tripwire of program.aims ?? []) {
        if (isMissing(tripwire)) continue
        aimed++
        const isTripped =
          tripwire === 'outcome'
            ? !isTyped
            : hits.some((hit) => hit.token === token && hit.tripwire === tripwire) || failures.includes(`printed a canary: ${tripwire}`)
        if (!isTripped) untouched.push(`${program.id} → ${tripwire}`)
      }
    return { aimed, tripped: aimed - untouched.length, untouched }
  } finally {
    await harness.stop()
  }

  function isMissing(tripwire: Tripwire): boolean {
    const { targets, missing } = harness.tripwires
    const where = { metadata: targets.metadata, credentials: targets.credentials, resolver: targets.resolver, dns: `${targets.gateway}:53` }
    return tripwire in where && missing.some((address) => address.startsWith(where[tripwire as keyof typeof where]))
  }
}
