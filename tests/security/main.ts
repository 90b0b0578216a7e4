// `npm run test:security`: every hostile program, two tenants that attack one another, the control with the walls off, and every mutant.
// `-- --json` prints the summary alone: {tried, canaries, typed, control_trips, mutants, killed}. `-- --only <part>` runs one part.
// `-- --only limits [--bar C-23]`: the bars of limits in full, which take most of an hour and are no part of the summary.
import { parseArgs } from 'node:util'
import { ensureSandboxImage } from '../../scripts/sandbox-image.ts'
import { startServer } from '../support/local-server.ts'
import { startArena } from './arena/arena.ts'
import { runPrograms } from './arena/run-programs.ts'
import { runControl } from './control/run-control.ts'
import { DISTINCT, FAMILIES, MECHANISMS, PROGRAMS } from './corpus/registry.ts'
import { measureLimits } from './limits/measure-limits.ts'
import { MUTANTS } from './mutants/mutants.ts'
import { runMutants } from './mutants/run-mutants.ts'
import { runNeighbours } from './neighbours/neighbours.ts'

const PARTS = ['programs', 'neighbours', 'control', 'mutants', 'limits'] as const
type Part = (typeof PARTS)[number]
const CONTROL_BAR = 0.9
const NEIGHBOUR_SECONDS = 600

const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' }, bar: { type: 'string' } } })
if (values.only !== undefined && !PARTS.some((part) => part === values.only)) throw new Error(`--only takes one of ${PARTS.join(', ')}.`)

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const image = process.env['CELLBLOCK_SANDBOX_IMAGE'] ?? (await ensureSandboxImage(say))
const faults: string[] = []

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
  limits: async () => {
    const { figures, held, missed } = await measureLimits(image, values.bar, say)
    faults.push(...missed)
    return { summary: { figures, held }, table: {} }
  },
}

const summary: Record<string, number> = {}
const table: Record<string, number | string> = {}
for (const part of PARTS) {
  if (values.only === undefined ? part === 'limits' : values.only !== part) continue
  say(`▸ ${part}`)
  const report = await RUN[part]()
  Object.assign(summary, report.summary)
  Object.assign(table, report.summary, report.table)
}

for (const fault of faults) say(`✗ ${fault}`)
const rows = Object.entries(table).map(([what, number]) => `| ${what} | ${number} |\n`)
process.stdout.write(values.json === true ? `${JSON.stringify(summary)}\n` : `\n| what | number |\n| --- | ---: |\n${rows.join('')}`)
if (faults.length > 0) process.exitCode = 1
