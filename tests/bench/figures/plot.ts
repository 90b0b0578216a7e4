import { PLOT, type Bench } from '../bench.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 3

/** One inline plot through the whole service, compared with a bare kernel. */
export const plot: Bench = {
  name: 'plot',
  title: 'one plot on a live container, beside a bare ipykernel',
  async run({ isQuick, server, liveContainer, kernel }) {
    const whole: number[] = []
    const bare: number[] = []
    const runs = isQuick ? 15 : 60
    for (let run = -WARM_UP; run < runs; run++) {
      const bareMs = await kernel.run(PLOT)
      const wholeMs = await timed(() => server.api.run(liveContainer, PLOT))
      if (run < 0) continue
      bare.push(bareMs)
      whole.push(wholeMs)
    }
    const figures = { plot_ms: summarize('ms', whole), kernel_plot_ms: summarize('ms', bare) }
    return { figures, ratios: { plot_vs_kernel: round(figures.plot_ms.median / figures.kernel_plot_ms.median) } }
  },
}
