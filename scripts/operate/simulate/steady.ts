import { useContainer, watchLoad } from './client-load.ts'
import { openCell, type Cell } from './cell.ts'
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
    const { time, random, ecs, lambda, queues, tableCounts } = cell
    const began = time.now()
    const perMs = options.containers / (options.lifetimeSeconds * 1000)
    const fullAt = began + options.lifetimeSeconds * 1000 + 120_000
    const endAt = fullAt + options.measuredSeconds * 1000
    const load = watchLoad(cell, fullAt)
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
    await time.runUntil(fullAt)
    const before = structuredClone(ecs.counts)
    const tableBefore = { ...tableCounts }
    cell.passes.length = 0
    await time.runUntil(endAt)
    const live = ecs.runningTasks
    load.stopKilling()
    await time.runUntil(endAt + FOUND_WITHIN_MS)
    const seconds = options.measuredSeconds
    const counted = (counts: Readonly<Record<string, number>>, earlier: Readonly<Record<string, number>>, ...names: string[]): number =>
      names.reduce((sum, name) => sum + (counts[name] ?? 0) - (earlier[name] ?? 0), 0)
    const launched = ecs.counts.launches.filter((at) => at > fullAt && at <= endAt).length
    const reads = ['DescribeTasks', 'ListTasks'] as const
    return {
      live_containers: live,
      arrivals_per_second: round(options.containers / options.lifetimeSeconds),
      starts_per_second: round(launched / seconds),
      first_execution_ms: percentiles(load.firstMs),
      dead_sandbox_ms: {
        ...percentiles(load.foundMs),
        max: Math.max(0, ...load.foundMs),
        count: load.foundMs.length,
        not_found: load.notFound(),
      },
      ecs_reads_per_second: round(counted(ecs.counts.calls, before.calls, ...reads) / (seconds + 150)),
      throttled: {
        reads: counted(ecs.counts.throttled, before.throttled, ...reads),
        starts_and_stops: counted(ecs.counts.throttled, before.throttled, 'RunTask', 'StopTask'),
        functions: lambda.counts.throttled,
        table_calls: tableCounts.throttled,
      },
      lambda_peak: lambda.counts.peakByFunction,
      reconciler_pass_ms: percentiles(cell.passes),
      executions: load.executions,
      dead_letters: queues.counts.deadLetters,
      timed_out: lambda.counts.timedOut,
      failed_table_calls: tableCounts.failed,
      table_calls_per_second: round((tableCounts.calls - tableBefore.calls) / (seconds + 150)),
    }
  } finally {
    await cell.close()
  }
}

/** One line per simulated minute: what ran, what started, and what waited. */
function reportMinutes({ time, ecs, lambda, queues }: Cell, say: (line: string) => void): void {
  const began = time.now()
  let last = { starts: 0, throttled: 0 }
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
