// `npm run test:security`: every hostile program, the control with the walls off, and every mutant. `-- --json` prints the summary alone.
// `-- --only limits [--bar C-23]`: the bars of limits in full, which take most of an hour.
import { parseArgs } from 'node:util'
import { ensureSandboxImage } from '../../scripts/sandbox-image.ts'
import { startArena } from './arena/arena.ts'
import { runPrograms } from './arena/run-programs.ts'
import { runControl } from './control/run-control.ts'
import { FAMILIES, PROGRAMS } from './corpus/registry.ts'
import { measureLimits } from './limits/measure-limits.ts'
import { MUTANTS } from './mutants/mutants.ts'
import { runMutants } from './mutants/run-mutants.ts'

const PARTS = ['programs', 'control', 'mutants', 'limits'] as const
const CONTROL_BAR = 0.9
const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' }, bar: { type: 'string' } } })
const isWanted = (part: (typeof PARTS)[number]): boolean => (values.only === undefined ? part !== 'limits' : values.only === part)
if (values.only !== undefined && !PARTS.some((part) => part === values.only)) throw new Error(`--only takes one of ${PARTS.join(', ')}.`)

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const image = process.env['CELLBLOCK_SANDBOX_IMAGE'] ?? (await ensureSandboxImage(say))
const faults: string[] = []

/** Programs that ran, canaries that were touched, outcomes that were as expected. */
async function tryPrograms(): Promise<{ tried: number; canaries: number; typed: number }> {
  const arena = await startArena({ image })
  try {
    const verdicts = await runPrograms(arena, PROGRAMS, ({ program, isTyped, faults: found, outcome }) => {
      if (!isTyped) faults.push(`${program.id} ended otherwise: ${JSON.stringify(outcome).slice(0, 400)}`)
      faults.push(...found.map((fault) => `${program.id} ${fault}`))
    })
    const hits = await arena.hits()
    faults.push(
      ...hits.map(
        ({ tripwire, token }) => `tripwire ${tripwire} (${verdicts.find((one) => one.token === token)?.program.id ?? 'unknown'})`,
      ),
    )
    const said = verdicts.flatMap((verdict) => verdict.faults).filter((fault) => fault.startsWith('said a canary'))
    return { tried: verdicts.length, canaries: hits.length + said.length, typed: verdicts.filter(({ isTyped }) => isTyped).length }
  } finally {
    await arena.stop()
  }
}

const programs = isWanted('programs') ? await tryPrograms() : null
if (programs !== null)
  say(`${programs.tried} programs of ${FAMILIES.length} families: ${programs.canaries} canaries, ${programs.typed} typed`)

const control = isWanted('control') ? await runControl(image, PROGRAMS) : null
if (control !== null) {
  say(`walls off: ${control.tripped} of ${control.aimed} tripwires touched; silent: ${control.silent.join(', ') || 'none'}`)
  if (control.tripped < CONTROL_BAR * control.aimed) faults.push(`only ${control.tripped} of ${control.aimed} tripwires work`)
}

const mutants = isWanted('mutants') ? await runMutants(image, MUTANTS, say) : null
faults.push(...(mutants?.survivors ?? []).map((protection) => `nothing notices that this is gone: ${protection}`))

const limits = isWanted('limits') ? await measureLimits(image, values.bar, say) : null
faults.push(...(limits?.missed ?? []))

const summary = {
  ...programs,
  ...(control && { control_trips: control.tripped }),
  ...(limits && { figures: limits.figures, held: limits.held }),
  ...(mutants && { mutants: mutants.tried, killed: mutants.killed }),
}
for (const fault of faults) say(`✗ ${fault}`)
if (values.json === true) process.stdout.write(`${JSON.stringify(summary)}\n`)
else
  process.stdout.write(
    `\n| what | number |\n| --- | ---: |\n${Object.entries(summary)
      .map(([what, number]) => `| ${what} | ${number} |\n`)
      .join('')}`,
  )
if (faults.length > 0) process.exitCode = 1
