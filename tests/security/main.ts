// `npm run test:security`: every hostile program, two tenants that attack one another, the control with the walls off, every mutant,
// and every bar of limits. `-- --json` prints the summary alone: {tried, canaries, typed, control_trips, mutants, killed}. `-- --only <part>`
// runs one part, `-- --only limits --bar C-23` one bar.
import { parseArgs } from 'node:util'
import { ensureSandboxImage } from '../../scripts/sandbox-image.ts'
import { startServer } from '../support/local-server.ts'
import { startArena } from './arena/arena.ts'
import { runPrograms } from './arena/run-programs.ts'
import { runControl } from './control/run-control.ts'
import { DISTINCT, FAMILIES, MECHANISMS, PROGRAMS } from './corpus/registry.ts'
import type { Bar } from './limits/bar.ts'
import { measureLimits, type LimitsSummary } from './limits/measure-limits.ts'
import { BARS } from './limits/registry.ts'
import { MUTANTS } from './mutants/mutants.ts'
import { runMutants } from './mutants/run-mutants.ts'
import { runNeighbours } from './neighbours/neighbours.ts'

/** `limits` is all of the bars; the sweep is the one that takes ten minutes and asks for no quiet machine. */
const CHOICES = ['programs', 'neighbours', 'control', 'mutants', 'limits'] as const
type Choice = (typeof CHOICES)[number]
type Part = Choice | 'sweep'
const partsOf = (choice: Choice): readonly Part[] => (choice === 'limits' ? ['limits', 'sweep'] : [choice])
const CONTROL_BAR = 0.9
const NEIGHBOUR_SECONDS = 600

const { values: given } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' }, bar: { type: 'string' } } })
const only = CHOICES.find((choice) => choice === given.only)
if (given.only !== undefined && only === undefined) throw new Error(`--only takes one of ${CHOICES.join(', ')}.`)
if (given.bar !== undefined && (only !== 'limits' || !BARS.some(({ id }) => id === given.bar)))
  throw new Error(`--bar takes one of ${BARS.map(({ id }) => id).join(', ')}, beside --only limits.`)
const values = { ...given, only }

const isAsked = ({ id }: Bar): boolean => values.bar === undefined || id === values.bar
const [SWEEPS, TIMED] = [BARS.filter(({ isLong }) => isLong === true), BARS.filter(({ isLong }) => isLong !== true)]
const say = (line: string): void => void process.stderr.write(`${line}\n`)
const image = process.env['CELLBLOCK_SANDBOX_IMAGE'] ?? (await ensureSandboxImage(say))
const faults: string[] = []
const startedAt = performance.now()

/** What each part adds to the summary, and the lines of the table beside it. */
interface Report {
  readonly summary: Readonly<Record<string, number>>
  readonly table: Readonly<Record<string, number | string>>
}

const RUN: Record<Part, () => Promise<Report>> = {
  /** Of programs only those count that are of another mechanism than three before them; the others must hold all the same. */
  programs: async () => {
    const arena = await startArena({ image })
    try {
      const verdicts = await runPrograms(arena, PROGRAMS, ({ program, isTyped, faults: found, outcome }) => {
        if (!isTyped) faults.push(`${program.id} ended otherwise: ${JSON.stringify(outcome).slice(0, 400)}`)
        faults.push(...found.map((fault) => `${program.id} ${fault}`))
      })
      const hits = await arena.hits()
      const nameOf = (token: string | null): string => verdicts.find((one) => one.token === token)?.program.id ?? 'unknown'
      faults.push(...hits.map(({ tripwire, token }) => `tripwire ${tripwire} (${nameOf(token)})`))
      const said = verdicts.flatMap((verdict) => verdict.faults).filter((fault) => fault.startsWith('said a canary'))
      const counted = verdicts.filter(({ program }) => DISTINCT.has(program))
      return {
        summary: { tried: counted.length, canaries: hits.length + said.length, typed: counted.filter(({ isTyped }) => isTyped).length },
        table: {
          families: FAMILIES.length,
          mechanisms: MECHANISMS.size,
          'programs of a mechanism that has three': verdicts.length - counted.length,
        },
      }
    } finally {
      await arena.stop()
    }
  },
  neighbours: async () => {
    const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_POOL: '2' } })
    try {
      const { attempts, foreignBytes, faults: found } = await runNeighbours(server, NEIGHBOUR_SECONDS)
      faults.push(...found)
      return { summary: {}, table: { 'attempts of neighbours': attempts, 'bytes of the other one': foreignBytes } }
    } finally {
      await server.stop()
    }
  },
  control: async () => {
    const { aimed, tripped, silent } = await runControl(image, PROGRAMS)
    if (tripped < CONTROL_BAR * aimed) faults.push(`only ${tripped} of ${aimed} tripwires work`)
    return {
      summary: { control_trips: tripped },
      table: { 'tripwires aimed at': aimed, 'silent with the walls off': silent.join(', ') || 'none' },
    }
  },
  mutants: async () => {
    const { tried, killed, survivors } = await runMutants(image, MUTANTS, say)
    faults.push(...survivors.map((protection) => `nothing notices that this is gone: ${protection}`))
    return { summary: { mutants: tried, killed }, table: {} }
  },
  limits: async () => limits(await measureLimits(image, TIMED.filter(isAsked), say)),
  sweep: async () => limits(await measureLimits(image, SWEEPS.filter(isAsked), say)),
}

/** Figures of limits stand in the table: the summary is that of the walls. */
function limits({ figures, held, missed }: LimitsSummary): Report {
  faults.push(...missed)
  return { summary: {}, table: { 'figures of limits': figures, 'figures within their bar': held } }
}

const summary: Record<string, number> = {}
const table: Record<string, number | string> = {}

async function run(part: Part): Promise<void> {
  if (values.only !== undefined && !partsOf(values.only).includes(part)) return
  say(`▸ ${part}`)
  const began = performance.now()
  const report = await RUN[part]().catch((error: unknown): Report => {
    faults.push(`${part} did not come to its end: ${error instanceof Error ? error.message : String(error)}`)
    return { summary: {}, table: {} }
  })
  Object.assign(summary, report.summary)
  for (const [what, value] of Object.entries({ ...report.summary, ...report.table })) {
    const sum = table[what]
    table[what] = typeof sum === 'number' && typeof value === 'number' ? sum + value : value
  }
  say(`▸ ${part} took ${Math.round((performance.now() - began) / 1_000)} s: ${JSON.stringify({ ...report.summary, ...report.table })}`)
}

// Two parts last ten minutes whatever the machine, and leave most of it to others. What measures times comes last and alone.
const inTurn = async (parts: readonly Part[]): Promise<void> => {
  for (const part of parts) await run(part)
}
await Promise.all([inTurn(['programs', 'control', 'mutants']), run('neighbours'), run('sweep')])
await run('limits')

for (const fault of faults) say(`✗ ${fault}`)
table['minutes'] = Math.round((performance.now() - startedAt) / 6_000) / 10
const rows = Object.entries(table).map(([what, number]) => `| ${what} | ${number} |\n`)
const shown = `\n| what | number |\n| --- | ---: |\n${rows.join('')}`
if (values.json === true) say(shown)
process.stdout.write(values.json === true ? `${JSON.stringify(summary)}\n` : shown)
if (faults.length > 0) process.exitCode = 1
