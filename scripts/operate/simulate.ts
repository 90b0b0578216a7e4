// `npm run simulate`: the orchestrator's real steps against simulated AWS limits, on a simulated clock.
import { numberOption, readFlags, runOperation, UsageError, type Flags } from './flags.ts'
import { simulateBurst, simulatePool, simulateSteady, type BurstReport, type PoolReport, type SteadyReport } from './simulate/scenarios.ts'

export const SIMULATE_USAGE = `Usage: npm run simulate -- [--containers 10000] [--lifetime 10m] [--measure 10m] [--run 1] [--burst 1000] [--pool 500]
                           [--seed 1] [--json]

  --containers  containers alive at a time; 0 leaves this part out
  --lifetime    how long each lives: 90s, 10m or 1h
  --measure     simulated time that is measured once the cell is full
  --run         seconds that code runs
  --burst       containers that run code in the same second, with nothing warm; 0 leaves it out
  --pool        size of a warm pool that is filled from empty; 0 leaves it out

The exit code is 1 when a threshold is missed. 10,000 containers take some minutes of processor time.
`

const FLAGS = ['containers', 'lifetime', 'measure', 'run', 'burst', 'pool', 'seed'] as const
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** `90s`, `10m`, `1h`, in seconds. Throws UsageError. */
export function durationOption(flags: Flags<(typeof FLAGS)[number]>, name: 'lifetime' | 'measure', fallback: number): number {
  const text = flags[name]
  if (text === undefined) return fallback
  const [, number, unit = ''] = /^(\d+)([smh])$/.exec(String(text)) ?? []
  const seconds = Number(number) * (UNITS[unit] ?? Number.NaN)
  if (!(seconds > 0)) throw new UsageError(`--${name} must be a duration such as 90s, 10m or 1h.`)
  return seconds
}

export interface SimulationReport {
  readonly steady: SteadyReport | null
  readonly burst: BurstReport | null
  readonly pool: PoolReport | null
  readonly thresholds: readonly { readonly what: string; readonly holds: boolean }[]
}

/** Every figure that must hold, as a sentence. */
export function thresholdsOf({ steady, burst, pool }: Omit<SimulationReport, 'thresholds'>): SimulationReport['thresholds'] {
  return [
    ...(steady === null
      ? []
      : [
          { what: 'no read of ECS is throttled at steady state', holds: steady.throttled.reads === 0 },
          {
            what: 'every dead sandbox is found within 60 s',
            holds: steady.dead_sandbox_ms.max <= 60_000 && steady.dead_sandbox_ms.not_found === 0,
          },
          { what: 'no message is dead-lettered', holds: steady.dead_letters === 0 },
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
  ]
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

export function simulationText({ steady, burst, pool, thresholds }: SimulationReport): string {
  const lines: string[] = []
  if (steady !== null)
    lines.push(
      `${steady.live_containers} tasks run; ${steady.starts_per_second} starts per second`,
      `  first execution of a cold container: p50 ${seconds(steady.first_execution_ms.p50)}, p99 ${seconds(steady.first_execution_ms.p99)}`,
      `  dead sandbox found: p50 ${seconds(steady.dead_sandbox_ms.p50)}, p99 ${seconds(steady.dead_sandbox_ms.p99)}, max ${seconds(steady.dead_sandbox_ms.max)}, of ${steady.dead_sandbox_ms.count}`,
      `  reads of ECS: ${steady.ecs_reads_per_second} per second, throttled ${steady.throttled.reads}; starts and stops throttled: ${steady.throttled.starts_and_stops}`,
      `  pass of the reconciler: p50 ${seconds(steady.reconciler_pass_ms.p50)}, p99 ${seconds(steady.reconciler_pass_ms.p99)}`,
      `  concurrent functions at most: ${Object.entries(steady.lambda_peak)
        .map(([name, peak]) => `${name} ${peak}`)
        .join(', ')}`,
      `  executions: ${steady.executions.succeeded} succeeded, ${steady.executions.sandbox_lost} lost with their sandbox, ${steady.executions.other} other`,
    )
  if (burst !== null)
    lines.push(
      `A burst of ${burst.claims} claims: all starts accepted after ${burst.drained_seconds} s, ${burst.starts_per_second} per second`,
      `  first execution: p50 ${seconds(burst.first_execution_ms.p50)}, p99 ${seconds(burst.first_execution_ms.p99)}; throttled starts ${burst.throttled_starts}, failed executions ${burst.failed_executions}`,
    )
  if (pool !== null)
    lines.push(
      `A pool of ${pool.size} from empty: 98 % of the starts accepted after ${pool.requested_seconds} s (${pool.starts_per_second} per second), ready after ${pool.ready_seconds} s, overshoot ${pool.overshoot}`,
    )
  return `${[...lines, ...thresholds.map(({ what, holds }) => `${holds ? 'ok  ' : 'FAIL'} ${what}`)].join('\n')}\n`
}

if (import.meta.main)
  await runOperation(SIMULATE_USAGE, async (args) => {
    const flags = readFlags(args, FLAGS, ['json'])
    const containers = numberOption(flags, 'containers', 10_000)
    const claims = numberOption(flags, 'burst', 1_000)
    const size = numberOption(flags, 'pool', 500)
    const seed = numberOption(flags, 'seed', 1)
    const lifetimeSeconds = durationOption(flags, 'lifetime', 600)
    const measuredSeconds = durationOption(flags, 'measure', 600)
    const runSeconds = numberOption(flags, 'run', 1)
    const parts = {
      steady: containers === 0 ? null : await simulateSteady({ containers, lifetimeSeconds, measuredSeconds, runSeconds, seed }),
      burst: claims === 0 ? null : await simulateBurst({ claims, seed }),
      pool: size === 0 ? null : await simulatePool({ size, seed }),
    }
    const report: SimulationReport = { ...parts, thresholds: thresholdsOf(parts) }
    const code = report.thresholds.every(({ holds }) => holds) ? 0 : 1
    // Steps that still run in simulated time have timers of real time, which would keep the process alive.
    process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : simulationText(report), () => process.exit(code))
    return code
  })
