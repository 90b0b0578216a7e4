import { PLOT, type Bench } from '../bench.ts'
import { PRINT } from '../sides/print.ts'
import { ensureNbconvert } from '../sides/nbconvert.ts'
import { runReplacedWay } from '../sides/nbconvert-baseline.ts'
import { timed } from '../sides/time.ts'
import { round, summarize, type Figure } from '../statistics.ts'

const LIVE_RUNS_EACH = 20

/** A live container compared with `docker run` and nbconvert. */
export const baseline: Bench = {
  name: 'baseline',
  title: 'print(1) on a live container, beside docker run --rm + jupyter nbconvert --execute',
  async run({ isQuick, image, server, liveContainer, say }) {
    const way = { image, nbconvert: await ensureNbconvert(say) }
    await runReplacedWay(way, PRINT)
    const replaced: number[] = []
    const whole: number[] = []
    for (let run = 0; run < (isQuick ? 3 : 10); run++) {
      replaced.push(await timed(() => runReplacedWay(way, PRINT)))
      for (let live = 0; live < LIVE_RUNS_EACH; live++) whole.push(await timed(() => server.api.run(liveContainer, PRINT)))
    }
    const plots: Record<string, Figure> = {}
    if (!isQuick) {
      const times: number[] = []
      for (let run = 0; run < 5; run++) times.push(await timed(() => runReplacedWay(way, PLOT)))
      plots['baseline_plot_ms'] = summarize('ms', times)
    }
    const figures = { baseline_ms: summarize('ms', replaced), live_beside_baseline_ms: summarize('ms', whole) }
    return {
      figures: { ...figures, ...plots },
      ratios: { live_vs_baseline: round(figures.baseline_ms.median / figures.live_beside_baseline_ms.median) },
    }
  },
}
