import { loadavg } from 'node:os'
import type { Threshold } from './threshold.ts'
import { runThresholds } from './run-thresholds.ts'

export interface LimitsSummary {
  readonly figures: number
  readonly held: number
  readonly missed: readonly string[]
}

/** Measures the long form of these thresholds and logs each figure. */
export async function measureLimits(image: string, thresholds: readonly Threshold[], log: (line: string) => void): Promise<LimitsSummary> {
  let figures = 0
  const missed: string[] = []
  // Times are wall times, so the load of the machine is logged with them.
  let before = load()
  if (thresholds.length > 0)
    await runThresholds(image, thresholds, 'long', ({ threshold, findings }) => {
      log(`\n${threshold.id} ${threshold.title} (load average ${before} before, ${load()} after)`)
      before = load()
      for (const { what, value, threshold: expected, holds } of findings) {
        log(`  ${holds ? '✓' : '✗'} ${what}: ${value} (${expected})`)
        if (!holds) missed.push(`${threshold.id} ${what}: ${value}, expected ${expected}`)
      }
      figures += findings.length
    })
  return { figures, held: figures - missed.length, missed }
}

const load = (): string => (loadavg()[0] ?? Number.NaN).toFixed(1)
