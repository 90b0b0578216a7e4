import type { Bench } from '../bench.ts'
import { timeFirstExecution } from '../sides/first-execution.ts'
import { startServer } from '../sides/server.ts'
import { timePlainStart } from '../sides/start-plain-kernel.ts'
import { round, summarize } from '../statistics.ts'

/** The first execution of a new container without a warm sandbox, compared with a container with a standard kernel. */
export const cold: Bench = {
  name: 'cold',
  title: 'first execution, empty pool, beside create + start + plain ipykernel ready',
  async run({ isQuick, image }) {
    const server = await startServer({ image, poolSize: 0 })
    try {
      const first: number[] = []
      const floor: number[] = []
      for (let run = 0; run < (isQuick ? 3 : 15); run++) {
        floor.push(await timePlainStart(image))
        first.push(await timeFirstExecution(server.api))
      }
      const figures = { cold_ms: summarize('ms', first), plain_start_ms: summarize('ms', floor) }
      return { figures, ratios: { cold_vs_floor: round(figures.cold_ms.median / figures.plain_start_ms.median) } }
    } finally {
      await server.stop()
    }
  },
}
