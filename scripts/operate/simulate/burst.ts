import { openCell } from './cell.ts'
import { useContainer, watchLoad } from './client-load.ts'
import { percentiles, round, startsPerSecond, type Percentiles } from './statistics.ts'

export interface BurstReport {
  readonly claims: number
  /** From the first claim to the last start that ECS accepted. */
  readonly drained_seconds: number
  /** From the first accepted start to the 98th of 100. */
  readonly starts_per_second: number
  readonly first_execution_ms: Percentiles
  readonly throttled_starts: number
  readonly throttled_functions: number
  readonly failed_executions: number
}

/** So many new containers run code in the same second, in a cell with nothing warm. */
export async function simulateBurst({
  claims,
  ...options
}: {
  readonly claims: number
  readonly runConcurrency?: number
  readonly lambdaConcurrency?: number
  readonly apiConcurrency?: number | undefined
  readonly seed: number
}): Promise<BurstReport> {
  const cell = await openCell({ ...options, runSeconds: 1, poolSize: 0 })
  try {
    const { time, random, ecs, lambda } = cell
    const load = watchLoad(cell, 0)
    // The cell has been idle for a while: its first pass is over, and the functions are as they are without load.
    await time.runUntil(time.now() + 30_000)
    const began = time.now()
    for (let count = 0; count < claims; count++) time.after(random() * 1_000, () => void useContainer(cell, 3_600_000, load))
    await time.runUntil(began + 60_000)
    let until = began + 60_000
    while (load.firstMs.length < claims && until < began + 1_800_000) await time.runUntil((until += 10_000))
    const starts = ecs.counts.launches.slice(0, claims)
    const drained = ((starts.at(-1) ?? began) - began) / 1000
    return {
      claims,
      drained_seconds: round(drained),
      starts_per_second: startsPerSecond(starts),
      throttled_functions: lambda.counts.throttled,
      first_execution_ms: percentiles(load.firstMs),
      throttled_starts: ecs.counts.throttled['RunTask'] ?? 0,
      failed_executions: load.executions.sandbox_lost + load.executions.cancelled + load.executions.other + claims - load.firstMs.length,
    }
  } finally {
    await cell.close()
  }
}
