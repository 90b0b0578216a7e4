import { openCell, type Cell } from './cell.ts'
import { useContainer, watchLoad, type Load } from './client-load.ts'
import type { TableCounts } from './simulated-table.ts'
import { percentiles, round, type Percentiles } from './statistics.ts'

export interface SteadyOptions {
  readonly containers: number
  readonly lifetimeSeconds: number
  /** Simulated time that is measured after the cell is full. */
  readonly measuredSeconds: number
  readonly runSeconds: number
  readonly runConcurrency?: number
  readonly lambdaConcurrency?: number
  readonly apiConcurrency?: number | undefined
  /** Divides the limits of ECS; `containers` is the number in the model. */
  readonly scale?: number
  readonly seed: number
  /** Called after each simulated minute. */
  readonly onMinute?: (line: string) => void
  /** Receives the simulated share of the whole, from 0 to 1, every simulated minute. */
  readonly onShare?: (share: number) => void
}

export interface SteadyReport {
  readonly live_containers: number
  /** The rate that keeps so many containers alive. */
  readonly arrivals_per_second: number
  readonly starts_per_second: number
  readonly first_execution_ms: Percentiles
  /** From the end of a task to the moment at which the service has released its container. */
  readonly dead_sandbox_ms: Percentiles & { readonly max: number; readonly count: number; readonly not_found: number }
  readonly ecs_reads_per_second: number
  readonly throttled: {
    readonly reads: number
    readonly starts_and_stops: number
    readonly functions: number
    readonly table_calls: number
  }
  readonly lambda_peak: Readonly<Record<string, number>>
  readonly reconciler_pass_ms: Percentiles
  /** `cancelled`: still waiting for a sandbox when the lifetime of their container ended. */
  readonly executions: { readonly succeeded: number; readonly sandbox_lost: number; readonly cancelled: number; readonly other: number }
  readonly dead_letters: number
  /** Invocations that Lambda ended at their time-out, and table calls that failed in every attempt. */
  readonly timed_out: number
  readonly failed_table_calls: number
  readonly table_calls_per_second: number
}

/** Faults of the last moments are waited for, as long as any other may take to be found. */
const FOUND_WITHIN_MS = 150_000
/** One task in a hundred ends by a fault of the platform, as often as Spot interruptions and hardware faults together may. */
const FAULTY_TASKS = 0.01

/** Containers arrive at random at the rate that keeps so many alive, run code every 150 s, and are deleted at the end of their lifetime. */
export async function simulateSteady(options: SteadyOptions): Promise<SteadyReport> {
  const cell = await openCell({ ...options, poolSize: 0 })
  try {
    const { time, ecs } = cell
    const fullAt = time.now() + options.lifetimeSeconds * 1000 + 120_000
    const endAt = fullAt + options.measuredSeconds * 1000
    const load = watchLoad(cell, fullAt)
    startLoad(cell, options, { load, fullAt, endAt })
    await time.runUntil(fullAt)
    const before: Counts = { ecs: structuredClone(ecs.counts), table: { ...cell.tableCounts } }
    cell.passes.length = 0
    await time.runUntil(endAt)
    const live = ecs.runningTasks
    load.stopKilling()
    await time.runUntil(endAt + FOUND_WITHIN_MS)
    const launched = ecs.counts.launches.filter((at) => at > fullAt && at <= endAt).length
    return {
      live_containers: live,
      arrivals_per_second: round(options.containers / options.lifetimeSeconds),
      starts_per_second: round(launched / options.measuredSeconds),
      ...loadFigures(load),
      ...platformFigures(cell, before, options.measuredSeconds + 150),
    }
  } finally {
    await cell.close()
  }
}

/** Containers from now on, and faulty tasks once the cell is full. */
function startLoad(
  cell: Cell,
  options: SteadyOptions,
  { load, fullAt, endAt }: { readonly load: Load; readonly fullAt: number; readonly endAt: number },
): void {
  const { time, random, ecs } = cell
  const began = time.now()
  const perMs = options.containers / (options.lifetimeSeconds * 1000)
  const report = (): void => {
    options.onShare?.((time.now() - began) / (endAt + FOUND_WITHIN_MS - began))
    time.after(60_000, report)
  }
  report()
  const arrive = (): void => {
    void useContainer(cell, options.lifetimeSeconds * 1000, load)
    time.after(-Math.log(1 - random()) / perMs, arrive)
  }
  arrive()
  const fault = (): void => {
    load.killed(ecs.kill())
    time.after(-Math.log(1 - random()) / (perMs * FAULTY_TASKS), fault)
  }
  time.after(fullAt - began, fault)
  if (options.onMinute !== undefined) reportMinutes(cell, options.onMinute)
}

const loadFigures = (load: Load): Pick<SteadyReport, 'first_execution_ms' | 'dead_sandbox_ms' | 'executions'> => ({
  first_execution_ms: percentiles(load.firstMs),
  dead_sandbox_ms: {
    ...percentiles(load.foundMs),
    max: Math.max(0, ...load.foundMs),
    count: load.foundMs.length,
    not_found: load.notFound(),
  },
  executions: load.executions,
})

/** Counts at the time when the cell was full. */
interface Counts {
  readonly ecs: Cell['ecs']['counts']
  readonly table: TableCounts
}

type PlatformFigure =
  | 'ecs_reads_per_second'
  | 'throttled'
  | 'lambda_peak'
  | 'reconciler_pass_ms'
  | 'dead_letters'
  | 'timed_out'
  | 'failed_table_calls'
  | 'table_calls_per_second'

function platformFigures(
  { ecs, lambda, queues, tableCounts, passes }: Cell,
  before: Counts,
  seconds: number,
): Pick<SteadyReport, PlatformFigure> {
  const counted = (counts: Readonly<Record<string, number>>, earlier: Readonly<Record<string, number>>, ...names: string[]): number =>
    names.reduce((sum, name) => sum + (counts[name] ?? 0) - (earlier[name] ?? 0), 0)
  const reads = ['DescribeTasks', 'ListTasks'] as const
  return {
    ecs_reads_per_second: round(counted(ecs.counts.calls, before.ecs.calls, ...reads) / seconds),
    throttled: {
      reads: counted(ecs.counts.throttled, before.ecs.throttled, ...reads),
      starts_and_stops: counted(ecs.counts.throttled, before.ecs.throttled, 'RunTask', 'StopTask'),
      functions: lambda.counts.throttled,
      table_calls: tableCounts.throttled,
    },
    lambda_peak: lambda.counts.peakByFunction,
    reconciler_pass_ms: percentiles(passes),
    dead_letters: queues.counts.deadLetters,
    timed_out: lambda.counts.timedOut,
    failed_table_calls: tableCounts.failed,
    table_calls_per_second: round((tableCounts.calls - before.table.calls) / seconds),
  }
}

/** One line per simulated minute: what ran, what started, and what waited. */
/** Explains the lines of `reportMinutes`. */
export const MINUTE_LEGEND = `A line per simulated minute:
  tasks     sandboxes that run at its end
  started   starts that ECS accepted during the minute
  throttled calls that AWS refused during the minute, because of its rate limits
  functions invocations that run at its end, by function
  messages  messages that wait at its end, by queue`

function reportMinutes({ time, ecs, lambda, queues }: Cell, say: (line: string) => void): void {
  const began = time.now()
  let last = { starts: 0, throttled: 0 }
  say(MINUTE_LEGEND)
  const report = (): void => {
    const now = {
      starts: ecs.counts.launches.length,
      throttled: Object.values(ecs.counts.throttled).reduce((sum, count) => sum + count, 0),
    }
    const waiting = Object.entries(queues.waiting()).map(([name, count]) => `${name} ${count}`)
    const active = Object.entries(lambda.active()).map(([name, count]) => `${name} ${count}`)
    say(
      `minute ${Math.round((time.now() - began) / 60_000)}: ${ecs.runningTasks} tasks, ${now.starts - last.starts} started, ${now.throttled - last.throttled} calls throttled; ` +
        `functions: ${active.join(', ')}; messages: ${waiting.join(', ')}`,
    )
    last = now
    time.after(60_000, report)
  }
  time.after(60_000, report)
}
