import { startArena } from '../arena/arena.ts'
import { runPrograms } from '../arena/run-programs.ts'
import type { Program, Tripwire } from '../corpus/program.ts'
import { copyProject } from '../mutants/copy-project.ts'
import { WALLS_OFF } from './walls-off.ts'

export interface ControlResult {
  readonly aimed: number
  readonly tripped: number
  /** `program → tripwire` of those that stayed silent. */
  readonly silent: readonly string[]
}

/** The programs that aim at something, with every wall off: what a tripwire that stays silent here would prove elsewhere is nothing. */
export async function runControl(image: string, programs: readonly Program[]): Promise<ControlResult> {
  await using copy = await copyProject(image, WALLS_OFF)
  const arena = await startArena({
    image: copy.image,
    root: copy.root,
    env: ({ targets, folder }) => ({ CELLBLOCK_CONTROL_GATEWAY: targets.gateway, CELLBLOCK_CONTROL_FOLDER: folder }),
  })
  try {
    const verdicts = await runPrograms(
      arena,
      programs.filter(({ aims }) => aims !== undefined),
    )
    const hits = await arena.hits()
    const silent: string[] = []
    let aimed = 0
    for (const { program, faults, token, isTyped } of verdicts)
      for (const tripwire of program.aims ?? []) {
        if (isMissing(tripwire)) continue
        aimed++
        const isTripped =
          tripwire === 'outcome'
            ? !isTyped
            : hits.some((hit) => hit.token === token && hit.tripwire === tripwire) || faults.includes(`said a canary: ${tripwire}`)
        if (!isTripped) silent.push(`${program.id} → ${tripwire}`)
      }
    return { aimed, tripped: aimed - silent.length, silent }
  } finally {
    await arena.stop()
  }

  function isMissing(tripwire: Tripwire): boolean {
    const { targets, missing } = arena.tripwires
    const where = { metadata: targets.metadata, credentials: targets.credentials, resolver: targets.resolver, dns: `${targets.gateway}:53` }
    return tripwire in where && missing.some((address) => address.startsWith(where[tripwire as keyof typeof where]))
  }
}
