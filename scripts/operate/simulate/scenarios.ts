import { acceptExecution } from '../../../services/core/executions/accept-execution.ts'
import type { Container } from '../../../services/core/containers/container.ts'
import { createContainer } from '../../../services/core/containers/create-container.ts'
import { newId } from '../../../services/core/ids.ts'
import { openCell, type Cell } from './cell.ts'

export interface SteadyOptions {
  readonly containers: number
  readonly lifetimeSeconds: number
  /** Simulated time that is measured after the cell is full. */
  readonly measuredSeconds: number
  readonly runSeconds: number
  readonly runConcurrency?: number
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
  readonly throttled: { readonly reads: number; readonly starts_and_stops: number }
  readonly lambda_peak: Readonly<Record<string, number>>
  readonly reconciler_pass_ms: Percentiles
  /** `cancelled`: still waiting for a sandbox when the lifetime of their container ended. */
  readonly executions: { readonly succeeded: number; readonly sandbox_lost: number; readonly cancelled: number; readonly other: number }
  readonly dead_letters: number
}

interface Percentiles {
  readonly p50: number
  readonly p99: number
}

const BETWEEN_EXECUTIONS_MS = 150_000
/** Faults of the last moments are waited for, as long as any other may take to be found. */
const FOUND_WITHIN_MS = 150_000
/** One task in a hundred ends by a fault of the platform, as often as Spot interruptions and hardware faults together may. */
const FAULTY_TASKS = 0.01

/** Containers arrive at random at the rate that keeps so many alive, run code every 150 s, and are deleted at the end of their lifetime. */
export async function simulateSteady(options: SteadyOptions): Promise<SteadyReport> {
  const cell = await openCell({ ...options, poolSize: 0 })
  try {
    const { time, random, ecs, lambda } = cell
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
      void useContainer(cell, options.lifetimeSeconds * 1000, load.accepted)
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
      },
      lambda_peak: lambda.counts.peakByFunction,
      reconciler_pass_ms: percentiles(cell.passes),
      executions: load.executions,
      dead_letters: lambda.counts.deadLetters,
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

/** Counts from the wide events what the load saw. */
function watchLoad(cell: Cell, measuredFrom: number) {
  const firsts = new Set<string>()
  const firstMs: number[] = []
  const foundMs: number[] = []
  const executions = { succeeded: 0, sandbox_lost: 0, cancelled: 0, other: 0 }
  const diedAt = new Map<string, number>()
  let isKilling = true
  cell.onEvent = (event) => {
    const now = cell.time.now()
    if (event.event === 'execution') {
      const id = String(event['execution'])
      if (event.outcome === 'succeeded') executions.succeeded += 1
      else if (event['reason'] === 'sandbox_lost') executions.sandbox_lost += 1
      else if (event.outcome === 'cancelled') executions.cancelled += 1
      else executions.other += 1
      if (firsts.delete(id) && now > measuredFrom) firstMs.push(Number(event['total_ms']))
    } else if (event.event === 'sandbox_end' || (event.event === 'sandbox_start' && event.outcome !== 'ready')) {
      // A task may die before the event that it runs was handled: its start has failed then.
      const died = diedAt.get(String(event['sandbox']))
      if (died !== undefined) foundMs.push(now - died)
      diedAt.delete(String(event['sandbox']))
    }
  }
  return {
    firstMs,
    foundMs,
    executions,
    accepted: (id: string) => void firsts.add(id),
    killed: (sandboxId: string | null) => {
      if (isKilling && sandboxId !== null) diedAt.set(sandboxId, cell.time.now())
    },
    stopKilling: () => {
      isKilling = false
    },
    notFound: () => diedAt.size,
  }
}

/**
 * A client: creates a container, runs code in it until the end of its lifetime, and deletes it. Each client is another tenant, because the
 * limit on a tenant's concurrent executions would bound the cell.
 */
async function useContainer(cell: Cell, lifetimeMs: number, onFirst: (executionId: string) => void): Promise<void> {
  const { time, table, queues } = cell
  const tenant = newId('tenant')
  const container = await createContainer(table, { tenant, subject: null, name: 'simulated', memoryTier: '1g' }, time.now())
  const endsAt = time.now() + lifetimeMs
  for (let isFirst = true; time.now() < endsAt; isFirst = false) {
    const id = newId('execution')
    if (isFirst) onFirst(id)
    await runCode(cell, container, id)
    await time.sleep(Math.min(BETWEEN_EXECUTIONS_MS, endsAt - time.now()))
  }
  const row = await table.containers.markDeleted(tenant, container.id, time.now())
  if (row !== null && row.sandboxId !== null) await queues.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: row.sandboxId }, {})
}

const runCode = ({ table, queues, time }: Cell, { tenant, id: containerId }: Container, id: string) =>
  acceptExecution(
    { table, queue: queues },
    {
      tenant,
      subject: null,
      id,
      containerId,
      responseId: null,
      source: { kind: 'code', code: 'print(42)' },
      timeoutSeconds: 60,
      onError: 'stop',
      storeHistory: true,
      metadata: {},
      publicUrl: 'https://simulated.example',
    },
    time.now(),
  )

export interface BurstReport {
  readonly claims: number
  /** From the first claim to the last start that ECS accepted. */
  readonly drained_seconds: number
  readonly starts_per_second: number
  readonly first_execution_ms: Percentiles
  readonly throttled_starts: number
  readonly failed_executions: number
}

/** So many new containers run code in the same second, in a cell with nothing warm. */
export async function simulateBurst({
  claims,
  ...options
}: {
  readonly claims: number
  readonly runConcurrency?: number
  readonly seed: number
}): Promise<BurstReport> {
  const cell = await openCell({ ...options, runSeconds: 1, poolSize: 0 })
  try {
    const { time, random, ecs } = cell
    const load = watchLoad(cell, 0)
    // The cell has been idle for a while: its first pass is over, and the functions are as they are without load.
    await time.runUntil(time.now() + 30_000)
    const began = time.now()
    for (let count = 0; count < claims; count++) time.after(random() * 1_000, () => void useContainer(cell, 3_600_000, load.accepted))
    await time.runUntil(began + 60_000)
    let until = began + 60_000
    while (load.firstMs.length < claims && until < began + 1_800_000) await time.runUntil((until += 10_000))
    const drained = ((ecs.counts.launches.slice(0, claims).at(-1) ?? began) - began) / 1000
    return {
      claims,
      drained_seconds: round(drained),
      starts_per_second: round(claims / drained),
      first_execution_ms: percentiles(load.firstMs),
      throttled_starts: ecs.counts.throttled['RunTask'] ?? 0,
      failed_executions: load.executions.sandbox_lost + load.executions.cancelled + load.executions.other + claims - load.firstMs.length,
    }
  } finally {
    await cell.close()
  }
}

export interface PoolReport {
  readonly size: number
  /** Until ECS has accepted 98 of 100 starts, and until every sandbox is ready. ECS refuses a few for capacity; the next pass replaces them. */
  readonly requested_seconds: number
  readonly ready_seconds: number
  readonly starts_per_second: number
  /** Starts beyond the size, less those that replaced a failed one. */
  readonly overshoot: number
}

/** An empty warm pool is filled by the first pass of the reconciler. */
export async function simulatePool({ size, seed }: { readonly size: number; readonly seed: number }): Promise<PoolReport> {
  const cell = await openCell({ seed, runSeconds: 1, poolSize: size })
  try {
    const { time, ecs, table } = cell
    const began = time.now()
    let most = 0
    let readyAt = began
    for (let until = began + 1_000; until < began + 900_000; until += 1_000) {
      await time.runUntil(until)
      most = Math.max(most, ecs.runningTasks)
      if (until % 5_000 >= 1_000) continue
      const reading = table.sandboxes.ready('1g', size + 100)
      await time.runUntil(until + 100)
      readyAt = time.now()
      if ((await reading).length >= size) break
    }
    const counted = Math.ceil(size * 0.98)
    const requested = ((ecs.counts.launches[counted - 1] ?? began) - began) / 1000
    return {
      size,
      requested_seconds: round(requested),
      ready_seconds: round((readyAt - began) / 1000),
      starts_per_second: round(counted / requested),
      overshoot: Math.max(0, most - size),
    }
  } finally {
    await cell.close()
  }
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return { p50: at(0.5), p99: at(0.99) }
}

const round = (value: number): number => Math.round(value * 100) / 100
