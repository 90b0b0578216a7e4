import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import { timed } from '../sides/time.ts'
import { summarize, type Figure } from '../statistics.ts'

const RUNS = 200

/** The time of a live execution by the phases of its usage. `rest` is HTTP, the last write and the notification. */
export const breakdown: Bench = {
  name: 'breakdown',
  title: 'phases of a live execution',
  async run({ server, liveContainer }) {
    const phases: Record<string, number[]> = {}
    const add = (name: string, ms: number): void => void (phases[name] ??= []).push(ms)
    for (let run = 0; run < RUNS; run++) {
      let usage: Readonly<Record<string, number>> = {}
      const whole = await timed(async () => (usage = (await server.api.run(liveContainer, PRINT)).usage ?? {}))
      const parts = ['queue_ms', 'start_ms', 'run_ms'].map((name) => [name, usage[name] ?? 0] as const)
      for (const [name, ms] of parts) add(`phase_${name}`, ms)
      add('phase_rest_ms', whole - parts.reduce((sum, [, ms]) => sum + ms, 0))
    }
    const figures: Record<string, Figure> = Object.fromEntries(
      Object.entries(phases).map(([name, samples]) => [name, summarize('ms', samples)]),
    )
    return { figures, ratios: {} }
  },
}
