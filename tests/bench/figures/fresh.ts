import { POOL_SIZE, type Bench } from '../bench.ts'
import { PRINT } from '../sides/print.ts'
import { timeFirstExecution } from '../sides/first-execution.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const LIVE_RUNS_EACH = 10

/** The first execution of a new container with a warm sandbox, compared with one in a live container. */
export const fresh: Bench = {
  name: 'fresh',
  title: 'first execution of a fresh container, warm pool',
  async run({ isQuick, server, liveContainer }) {
    const first: number[] = []
    const whole: number[] = []
    for (let run = 0; run < (isQuick ? 5 : 60); run++) {
      await server.pool.waitFor(POOL_SIZE)
      for (let live = 0; live < LIVE_RUNS_EACH; live++) whole.push(await timed(() => server.api.run(liveContainer, PRINT)))
      first.push(await timeFirstExecution(server.api))
    }
    const figures = { fresh_ms: summarize('ms', first), live_beside_fresh_ms: summarize('ms', whole) }
    return { figures, ratios: { fresh_vs_live: round(figures.fresh_ms.median / figures.live_beside_fresh_ms.median) } }
  },
}
