// `npm run test:security` runs every hostile program, two tenants that attack each other, the control with disabled protections, every mutant,
// and every limit threshold. `-- --json` prints only the summary {tried, canaries, typed, channel_bits, messages,
// untyped_messages, control_trips, mutants, killed}. `-- --only <part>` runs one part, `-- --only limits --threshold C-23` one threshold,
// `-- --only programs --name exit` the programs and `-- --only mutants --name seccomp` the mutants whose names contain the text.
import { exitOnSignals } from '../../scripts/setup/command.ts'
import { readOptions, refuseOption } from '../../scripts/read-options.ts'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { startServer } from '../support/local-server.ts'
import { startHarness } from './harness/harness.ts'
import { runPrograms } from './harness/run-programs.ts'
import { runControl } from './control/run-control.ts'
import { GVISOR_DIFFERENCES } from './corpus/gvisor-differences.ts'
import { DISTINCT, FAMILIES, MECHANISMS, PROGRAMS } from './corpus/registry.ts'
import type { Threshold } from './limits/threshold.ts'
import { measureLimits, type LimitsSummary } from './limits/measure-limits.ts'
import { THRESHOLDS } from './limits/registry.ts'
import { MUTANTS } from './mutants/mutants.ts'
import { runMutants } from './mutants/run-mutants.ts'
import { ALL_CHANNELS, measureNeighbours } from './cross-tenant/covert-channels.ts'
import { runCrossTenantAttacks } from './cross-tenant/cross-tenant.ts'
import { runMessages } from './messages/run-messages.ts'

/** `limits` includes the sweep, which takes ten minutes and tolerates other load. */
const CHOICES = ['programs', 'cross-tenant', 'neighbours', 'messages', 'control', 'mutants', 'limits'] as const
type Choice = (typeof CHOICES)[number]
type Part = Choice | 'sweep'
const partsOf = (choice: Choice): readonly Part[] => (choice === 'limits' ? ['limits', 'sweep'] : [choice])
const CONTROL_THRESHOLD = 0.9
const CROSS_TENANT_SECONDS = 600
const IS_ON_GVISOR = process.env['SANDBOX_DOCKER_RUNTIME']?.startsWith('runsc') === true
const isKnownDifference = ({ id }: { readonly id: string }): boolean => IS_ON_GVISOR && GVISOR_DIFFERENCES.has(id)
const MESSAGES = { total: 100_000, perExecution: 2_500, seed: 1 }

const given = readOptions('test:security', {
  json: { type: 'boolean' },
  only: { type: 'string' },
  threshold: { type: 'string' },
  name: { type: 'string', multiple: true },
})
const only = CHOICES.find((choice) => choice === given.only)
if (given.only !== undefined && only === undefined) refuseOption('test:security', `--only accepts ${CHOICES.join(', ')}.`)
if (given.threshold !== undefined && (only !== 'limits' || !THRESHOLDS.some(({ id }) => id === given.threshold)))
  refuseOption('test:security', `--threshold accepts ${THRESHOLDS.map(({ id }) => id).join(', ')}, together with --only limits.`)
const isNamed = (name: string): boolean => given.name?.some((text) => name.includes(text)) ?? true
const programs = PROGRAMS.filter(({ id }) => isNamed(id))
const mutants = MUTANTS.filter(({ protection }) => isNamed(protection))
if (given.name !== undefined && !((only === 'programs' && programs.length > 0) || (only === 'mutants' && mutants.length > 0)))
  refuseOption(
    'test:security',
    '--name selects programs or mutants by a part of their names, together with --only programs or --only mutants.',
  )
const values = { ...given, only }
// The servers and containers of a part end with this process, and its changes of the host are undone.
exitOnSignals()

const isSelected = ({ id }: Threshold): boolean => values.threshold === undefined || id === values.threshold
const [SWEEPS, TIMED] = [THRESHOLDS.filter(({ isLong }) => isLong === true), THRESHOLDS.filter(({ isLong }) => isLong !== true)]
const log = (line: string): void => void process.stderr.write(`${line}\n`)
const image = process.env['CELLBLOCK_SANDBOX_IMAGE'] ?? (await ensureSandboxImage(log))
const failures: string[] = []
const startedAt = performance.now()

/** The figures of a part: for the summary, and for the table only. */
interface Report {
  readonly summary: Readonly<Record<string, number>>
  readonly table: Readonly<Record<string, number | string>>
}

const RUN: Record<Part, () => Promise<Report>> = {
  /** At most three programs per mechanism count. The others run too and must hold. */
  programs: async () => {
    const harness = await startHarness({ image })
    let differences = 0
    try {
      const verdicts = await runPrograms(harness, programs, ({ program, isTyped, failures: found, outcome }) => {
        const differs = !isTyped && isKnownDifference(program)
        if (!isTyped && !differs) failures.push(`${program.id} ended unexpectedly: ${JSON.stringify(outcome).slice(0, 400)}`)
        if (differs) differences += 1
        failures.push(...found.map((failure) => `${program.id} ${failure}`))
      })
      const hits = await harness.hits()
      const nameOf = (token: string | null): string => verdicts.find((one) => one.token === token)?.program.id ?? 'unknown'
      failures.push(...hits.map(({ tripwire, token }) => `tripwire ${tripwire} (${nameOf(token)})`))
      const printed = verdicts.flatMap((verdict) => verdict.failures).filter((failure) => failure.startsWith('printed a canary'))
      const counted = verdicts.filter(({ program }) => DISTINCT.has(program))
      return {
        summary: { tried: counted.length, canaries: hits.length + printed.length, typed: counted.filter(({ isTyped }) => isTyped).length },
        table: {
          families: FAMILIES.length,
          mechanisms: MECHANISMS.size,
          'programs beyond three per mechanism': verdicts.length - counted.length,
          ...(IS_ON_GVISOR && { 'programs that differ on gVisor, as named': differences }),
        },
      }
    } finally {
      await harness.stop()
    }
  },
  'cross-tenant': async () => {
    const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_POOL: '2' } })
    try {
      const { attempts, foreignBytes, failures: found } = await runCrossTenantAttacks(server, CROSS_TENANT_SECONDS)
      failures.push(...found)
      return { summary: {}, table: { 'cross-tenant attempts': attempts, 'bytes read from the other tenant': foreignBytes } }
    } finally {
      await server.stop()
    }
  },
  /** Bits per second of each covert channel between two tenants' sandboxes, and a neighbour that exhausts what the kernel counts. */
  neighbours: async () => {
    const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_POOL: '2' } })
    try {
      const { figures, failures: found } = await measureNeighbours(server, ALL_CHANNELS, ({ channel, bitsPerSecond }) =>
        log(`  ${channel}: ${bitsPerSecond} bits per second`),
      )
      failures.push(...found)
      const carried = figures.filter(({ kind }) => kind === 'closed').reduce((sum, { bitsPerSecond }) => sum + bitsPerSecond, 0)
      return {
        summary: { channel_bits: carried },
        table: Object.fromEntries(
          figures.map(({ channel, bitsPerSecond, insideBitsPerSecond }) => [
            `bits per second: ${channel}`,
            `${bitsPerSecond} (${insideBitsPerSecond ?? 'not measured'} inside one sandbox)`,
          ]),
        ),
      }
    } finally {
      await server.stop()
    }
  },
  /** Generated messages of hostile kernels through the supervisor, the orchestrator and every wire. */
  messages: async () => {
    const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_POOL: '2' } })
    try {
      let shown = 0
      const result = await runMessages(server, MESSAGES, (messages) => {
        if (messages - shown < 10_000) return
        shown = messages
        log(`  ${messages} messages`)
      })
      failures.push(...result.failures)
      return {
        summary: { messages: result.messages, untyped_messages: result.untyped },
        table: { 'executions with messages': result.executions, 'peak memory of the server, MiB': Math.round(result.peakBytes / 2 ** 20) },
      }
    } finally {
      await server.stop()
    }
  },
  control: async () => {
    const { aimed, tripped, untouched } = await runControl(image, PROGRAMS)
    if (tripped < CONTROL_THRESHOLD * aimed) failures.push(`only ${tripped} of ${aimed} tripwires were touched`)
    return {
      summary: { control_trips: tripped },
      table: { 'tripwires aimed at': aimed, 'untouched without protections': untouched.join(', ') || 'none' },
    }
  },
  mutants: async () => {
    const { tried, killed, survivors, timedOut } = await runMutants(image, mutants, log)
    failures.push(...survivors.map((protection) => `no test fails without: ${protection}`))
    failures.push(...timedOut.map((protection) => `only a time limit ends the test without: ${protection}`))
    return { summary: { mutants: tried, killed }, table: {} }
  },
  limits: async () => limits(await measureLimits(image, TIMED.filter(isSelected), log)),
  sweep: async () => limits(await measureLimits(image, SWEEPS.filter(isSelected), log)),
}

/** The figures of limits are part of the table only. */
function limits({ figures, held, missed }: LimitsSummary): Report {
  failures.push(...missed)
  return { summary: {}, table: { 'limit figures': figures, 'limit figures within their threshold': held } }
}

const summary: Record<string, number> = {}
const table: Record<string, number | string> = {}

async function run(part: Part): Promise<void> {
  if (values.only !== undefined && !partsOf(values.only).includes(part)) return
  log(`▸ ${part}`)
  const partStartedAt = performance.now()
  const report = await RUN[part]().catch((error: unknown): Report => {
    failures.push(`${part} failed: ${error instanceof Error ? error.message : String(error)}`)
    return { summary: {}, table: {} }
  })
  Object.assign(summary, report.summary)
  for (const [what, value] of Object.entries({ ...report.summary, ...report.table })) {
    const sum = table[what]
    table[what] = typeof sum === 'number' && typeof value === 'number' ? sum + value : value
  }
  log(
    `▸ ${part} took ${Math.round((performance.now() - partStartedAt) / 1_000)} s: ${JSON.stringify({ ...report.summary, ...report.table })}`,
  )
}

// Two parts take ten minutes on any machine and use little of it, so they run in parallel. The timed thresholds run last and alone.
const runSequentially = async (parts: readonly Part[]): Promise<void> => {
  for (const part of parts) await run(part)
}
// The neighbours' figures depend on load, so they are measured before.
await run('neighbours')
await Promise.all([runSequentially(['programs', 'messages', 'control', 'mutants']), run('cross-tenant'), run('sweep')])
await run('limits')

for (const failure of failures) log(`✗ ${failure}`)
table['minutes'] = Math.round((performance.now() - startedAt) / 6_000) / 10
const rows = Object.entries(table).map(([what, number]) => `| ${what} | ${number} |\n`)
const shown = `\n| figure | value |\n| --- | ---: |\n${rows.join('')}`
if (values.json === true) log(shown)
process.stdout.write(values.json === true ? `${JSON.stringify(summary)}\n` : shown)
if (failures.length > 0) process.exitCode = 1
