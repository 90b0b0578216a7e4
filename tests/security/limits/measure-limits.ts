import { loadavg } from 'node:os'
import type { Bar } from './bar.ts'
import { runBars } from './run-bars.ts'

export interface LimitsSummary {
  readonly figures: number
  readonly held: number
  readonly missed: readonly string[]
}

/** The long form of these bars, told line by line as it comes. */
export async function measureLimits(image: string, bars: readonly Bar[], say: (line: string) => void): Promise<LimitsSummary> {
  let figures = 0
  const missed: string[] = []
  // Times are wall times: what else the machine did meanwhile belongs beside them.
  let before = load()
  if (bars.length > 0)
    await runBars(image, bars, 'long', ({ bar, findings }) => {
      say(`\n${bar.id} ${bar.title} (load of the machine ${before} before, ${load()} after)`)
      before = load()
      for (const { what, value, bar: wish, holds } of findings) {
        say(`  ${holds ? '✓' : '✗'} ${what}: ${value} (${wish})`)
        if (!holds) missed.push(`${bar.id} ${what}: ${value}, wanted ${wish}`)
      }
      figures += findings.length
    })
  return { figures, held: figures - missed.length, missed }
}

const load = (): string => (loadavg()[0] ?? Number.NaN).toFixed(1)
