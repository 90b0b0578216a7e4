import { openCell } from './cell.ts'
import { mostOf, round, startsPerSecond } from './statistics.ts'

export interface PoolReport {
  readonly size: number
  /** Until ECS has accepted 98 of 100 starts, and until every sandbox is ready. ECS refuses a few for capacity; the next pass replaces them. */
  readonly requested_seconds: number
  readonly ready_seconds: number
  /** From the first accepted start to the 98th of 100. */
  readonly starts_per_second: number
  /** Starts beyond the size, less those that replaced a failed one. */
  readonly overshoot: number
}

/** An empty warm pool is filled by the first pass of the reconciler. */
export async function simulatePool({ size, seed }: { readonly size: number; readonly seed: number }): Promise<PoolReport> {
  const cell = await openCell({ seed, runSeconds: 1, poolSize: size })
  try {
    const { time, ecs, observed } = cell
    const began = time.now()
    let most = 0
    let readyAt = began
    for (let until = began + 1_000; until < began + 900_000; until += 1_000) {
      await time.runUntil(until)
      most = Math.max(most, ecs.runningTasks)
      if (until % 5_000 >= 1_000) continue
      readyAt = time.now()
      if ((await observed.sandboxes.ready('1g', size + 100)).length >= size) break
    }
    const requested = ((ecs.counts.launches[mostOf(size) - 1] ?? began) - began) / 1000
    return {
      size,
      requested_seconds: round(requested),
      ready_seconds: round((readyAt - began) / 1000),
      starts_per_second: startsPerSecond(ecs.counts.launches.slice(0, size)),
      overshoot: Math.max(0, most - size),
    }
  } finally {
    await cell.close()
  }
}
