// `npm run simulate`: the orchestrator's real steps against simulated AWS limits, on a simulated clock.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../../infra/config.ts'
import { RunProgress } from '../progress/run-progress.ts'
import { aboutText } from '../progress/time-left.ts'
import { writeHtmlReport } from '../report/html-report.ts'
import { readCdkConfig } from './cdk-config.ts'
import { numberOption, readFlags, runOperation, UsageError, type Flags } from './flags.ts'
import { simulationHtml, type SimulationReport } from './simulate-html.ts'
import { simulateBurst } from './simulate/burst.ts'
import { simulateDepartures } from './simulate/departures.ts'
import { simulatePool } from './simulate/pool.ts'
import { simulateSteady } from './simulate/steady.ts'

export const SIMULATE_USAGE = `Usage: npm run simulate -- [--containers 10000] [--lifetime 10m] [--measure 10m] [--run 1] [--run-concurrency N] [--scale 1] [--burst 1000] [--pool 500]
                           [--departing 5m]
                           [--lambda-concurrency 3000] [--api-concurrency N] [--seed 1] [--json] [--html FILE]

  --containers  containers alive at a time; 0 leaves this part out
  --lifetime    how long each lives: 90s, 10m or 1h
  --measure     simulated time that is measured once the cell is full
  --run         seconds that code runs
  --run-concurrency  executions at the same time; default: concurrency.run of cdk.json
  --lambda-concurrency  concurrent functions of the account; a new account has 1,000 or fewer
  --api-concurrency     how many of them are reserved for the API; default: api.reservedConcurrency of cdk.json
  --scale       divides the rates of ECS and of the table for the first part, and the bursts of ECS by its root: 500 containers at scale 20 model 10,000
  --burst       containers that run code in the same second, with nothing warm; 0 leaves it out
  --pool        size of a warm pool that is filled from empty; 0 leaves it out
  --departing   simulated time in which one tenant opens streams at its allowed rate and disconnects at once; 0s leaves it out
  --html        also writes a report with charts to this file; a run with all parts at their default sizes writes bench/results/simulation.json
                and simulation.html as well

The exit code is 1 when a threshold is missed. 10,000 containers take some minutes of processor time.
`

/** Options that change what a full run simulates. */
const SIZES = [
  'containers',
  'lifetime',
  'measure',
  'run',
  'run-concurrency',
  'lambda-concurrency',
  'api-concurrency',
  'scale',
  'burst',
  'pool',
  'departing',
] as const
const FLAGS = [...SIZES, 'seed', 'html'] as const
const RESULTS = join(import.meta.dirname, '../../bench/results')
/** What a cell of 10,000 containers needs, because each waiting client holds a function of the API. */
const LAMBDA_CONCURRENCY = 3_000
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** `90s`, `10m`, `1h`, in seconds. Throws UsageError. */
export function durationOption(flags: Flags<(typeof FLAGS)[number]>, name: 'lifetime' | 'measure' | 'departing', fallback: number): number {
  const text = flags[name]
  if (text === undefined) return fallback
  const [, number, unit = ''] = /^(\d+)([smh])$/.exec(String(text)) ?? []
  const seconds = Number(number) * (UNITS[unit] ?? Number.NaN)
  if (!(seconds > 0) && name !== 'departing') throw new UsageError(`--${name} must be a duration such as 90s, 10m or 1h.`)
  return seconds
}

/** Share of the arrivals that must be started while the load is steady: arrivals are random. */
const KEPT_UP = 0.85

/** Every figure that must hold, as a sentence. */
export function thresholdsOf({ steady, burst, pool, departures }: Omit<SimulationReport, 'thresholds'>): SimulationReport['thresholds'] {
  return [
    ...(steady === null
      ? []
      : [
          { what: 'no read of ECS is throttled at steady state', holds: steady.throttled.reads === 0 },
          {
            what: 'every dead sandbox is found within 60 s',
            holds: steady.dead_sandbox_ms.max <= 60_000 && steady.dead_sandbox_ms.not_found === 0,
          },
          {
            what: 'starts keep up with the arrivals',
            holds: steady.starts_per_second >= KEPT_UP * steady.arrivals_per_second,
          },
          { what: 'no message is dead-lettered', holds: steady.dead_letters === 0 },
          { what: 'no function is ended at its time-out', holds: steady.timed_out === 0 },
          { what: 'no call of the table fails in every attempt', holds: steady.failed_table_calls === 0 },
        ]),
    ...(burst === null
      ? []
      : [
          { what: 'a burst starts at least 18 sandboxes per second', holds: burst.starts_per_second >= 18 },
          { what: 'every execution of a burst succeeds', holds: burst.failed_executions === 0 },
        ]),
    ...(pool === null
      ? []
      : [
          { what: 'a pool fills at 18 or more starts per second', holds: pool.starts_per_second >= 18 },
          { what: 'a pool is filled without overshoot', holds: pool.overshoot === 0 },
        ]),
    ...(departures === null
      ? []
      : [
          {
            what: "departing clients of one tenant double at most the other tenants' p99",
            holds: departures.beside_ms.p99 <= 2 * departures.alone_ms.p99,
          },
          {
            what: 'departing clients of one tenant hold at most half of the API',
            holds: departures.held_max <= Math.ceil(departures.functions / 2),
          },
        ]),
  ]
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

export function simulationText({ steady, burst, pool, departures, thresholds }: SimulationReport): string {
  const lines: string[] = []
  if (steady !== null)
    lines.push(
      `${steady.live_containers} tasks run; ${steady.starts_per_second} starts per second`,
      `  first execution of a cold container: p50 ${seconds(steady.first_execution_ms.p50)}, p99 ${seconds(steady.first_execution_ms.p99)}`,
      `  dead sandbox found: p50 ${seconds(steady.dead_sandbox_ms.p50)}, p99 ${seconds(steady.dead_sandbox_ms.p99)}, max ${seconds(steady.dead_sandbox_ms.max)}, of ${steady.dead_sandbox_ms.count}`,
      `  reads of ECS: ${steady.ecs_reads_per_second} per second, throttled ${steady.throttled.reads}; starts and stops throttled: ${steady.throttled.starts_and_stops}`,
      `  calls of the table: ${steady.table_calls_per_second} per second, throttled ${steady.throttled.table_calls}; functions throttled: ${steady.throttled.functions}`,
      `  pass of the reconciler: p50 ${seconds(steady.reconciler_pass_ms.p50)}, p99 ${seconds(steady.reconciler_pass_ms.p99)}`,
      `  concurrent functions at most: ${Object.entries(steady.lambda_peak)
        .map(([name, peak]) => `${name} ${peak}`)
        .join(', ')}`,
      `  executions: ${steady.executions.succeeded} succeeded, ${steady.executions.sandbox_lost} lost with their sandbox, ${steady.executions.cancelled} still waiting when their container was deleted, ${steady.executions.other} other`,
    )
  if (burst !== null)
    lines.push(
      `A burst of ${burst.claims} claims: all starts accepted after ${burst.drained_seconds} s, 98 % of them at ${burst.starts_per_second} per second`,
      `  first execution: p50 ${seconds(burst.first_execution_ms.p50)}, p99 ${seconds(burst.first_execution_ms.p99)}; throttled starts ${burst.throttled_starts}, throttled functions ${burst.throttled_functions}, failed executions ${burst.failed_executions}`,
    )
  if (pool !== null)
    lines.push(
      `A pool of ${pool.size} from empty: 98 % of the starts accepted after ${pool.requested_seconds} s (${pool.starts_per_second} per second), ready after ${pool.ready_seconds} s, overshoot ${pool.overshoot}`,
    )
  if (departures !== null)
    lines.push(
      `Departing clients: one tenant's dropped streams hold at most ${departures.held_max} of the API's ${departures.functions} functions; ${departures.refused} calls refused, ${departures.throttled_functions} throttled by Lambda`,
      `  calls of ${departures.clients} other tenants: p50 ${seconds(departures.beside_ms.p50)}, p99 ${seconds(departures.beside_ms.p99)}; without those clients p50 ${seconds(departures.alone_ms.p50)}, p99 ${seconds(departures.alone_ms.p99)}`,
    )
  return `${[...lines, ...thresholds.map(({ what, holds }) => `${holds ? 'ok  ' : 'FAIL'} ${what}`)].join('\n')}\n`
}

/** Measured on one free core: a simulated second of 10,000 containers, and the burst of 1,000 claims, in seconds of processor time. */
const SECONDS_PER_SIMULATED_SECOND = 0.15
const SECONDS_PER_BURST = 20

/** What the whole run takes, before any run on this machine is known. */
export function expectationText(sizes: {
  readonly containers: number
  readonly simulatedSeconds: number
  readonly claims: number
}): string {
  const steady = (sizes.containers / 10_000) * sizes.simulatedSeconds * SECONDS_PER_SIMULATED_SECOND
  const total = steady + (sizes.claims / 1_000) * SECONDS_PER_BURST
  return `Takes ${aboutText(total)} of one processor core, longer on a busy machine. Smaller sizes are faster: --containers, --burst, --pool.`
}

/** The results of the last full run are committed, so that changes show as a diff. */
async function keep(report: SimulationReport): Promise<string> {
  await mkdir(RESULTS, { recursive: true })
  await writeFile(join(RESULTS, 'simulation.json'), `${JSON.stringify(report, null, 2)}\n`)
  return writeHtmlReport(join(RESULTS, 'simulation.html'), simulationHtml(report))
}

if (import.meta.main)
  await runOperation(SIMULATE_USAGE, async (args) => {
    const flags = readFlags(args, FLAGS, ['json'])
    const containers = numberOption(flags, 'containers', { fallback: 10_000 })
    const claims = numberOption(flags, 'burst', { fallback: 1_000 })
    const size = numberOption(flags, 'pool', { fallback: 500 })
    const seed = numberOption(flags, 'seed', { fallback: 1 })
    const lifetimeSeconds = durationOption(flags, 'lifetime', 600)
    const measuredSeconds = durationOption(flags, 'measure', 600)
    const runSeconds = numberOption(flags, 'run', { fallback: 1 })
    const settings = readConfig(await readCdkConfig())
    const runConcurrency = numberOption(flags, 'run-concurrency', { fallback: settings.concurrency.run, min: 1 })
    const lambdaConcurrency = numberOption(flags, 'lambda-concurrency', { fallback: LAMBDA_CONCURRENCY, min: 1 })
    const reserved = numberOption(flags, 'api-concurrency', { fallback: settings.api.reservedConcurrency ?? 0 })
    const concurrency = { runConcurrency, lambdaConcurrency, ...(reserved > 0 && { apiConcurrency: reserved }) }
    const departingSeconds = durationOption(flags, 'departing', 300)
    const scale = numberOption(flags, 'scale', { fallback: 1, min: 1 })
    const names = [
      containers > 0 ? 'steady load' : '',
      claims > 0 ? 'burst' : '',
      size > 0 ? 'warm pool' : '',
      departingSeconds > 0 ? 'departing clients' : '',
    ].filter((name) => name !== '')
    const kind = `simulate ${containers} ${lifetimeSeconds} ${measuredSeconds} ${scale} ${claims} ${size} ${departingSeconds}`
    const simulatedSeconds = containers === 0 ? 0 : lifetimeSeconds + measuredSeconds
    process.stderr.write(`${expectationText({ containers, simulatedSeconds, claims })}\n`)
    const progress = new RunProgress({ kind, parts: names, say: (line) => void process.stderr.write(`${line}\n`) })
    const parts = {
      steady:
        containers === 0
          ? null
          : await progress.run((onShare) =>
              simulateSteady({
                ...{ containers, lifetimeSeconds, measuredSeconds, runSeconds, ...concurrency, scale, seed, onShare },
                onMinute: (line) => process.stderr.write(`${line}\n`),
              }),
            ),
      burst: claims === 0 ? null : await progress.run(() => simulateBurst({ claims, ...concurrency, seed })),
      pool: size === 0 ? null : await progress.run(() => simulatePool({ size, seed })),
      departures: departingSeconds === 0 ? null : await progress.run(() => simulateDepartures({ seconds: departingSeconds, seed })),
    }
    const report: SimulationReport = { ...parts, thresholds: thresholdsOf(parts) }
    if (typeof flags.html === 'string') process.stderr.write(`${await writeHtmlReport(flags.html, simulationHtml(report))}\n`)
    if (SIZES.every((name) => flags[name] === undefined)) process.stderr.write(`${await keep(report)}\n`)
    const code = report.thresholds.every(({ holds }) => holds) ? 0 : 1
    // Steps that still run in simulated time have timers of real time, which would keep the process alive.
    process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : simulationText(report), () => process.exit(code))
    return code
  })
