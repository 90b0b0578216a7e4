import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 30

/**
 * `print(1)` through the whole service in a live container, compared with a bare kernel. How far the 99th percentile is above the median depends on the machine
 * too: what interrupts the service interrupts the kernel, so its ratio stands beside that of the service.
 */
export const live: Bench = {
  name: 'live',
  title: 'print(1) on a live container, beside a bare ipykernel',
  async run({ isQuick, server, liveContainer, kernel }) {
    const whole: number[] = []
    const bare: number[] = []
    const runs = isQuick ? 300 : 1_000
    for (let run = -WARM_UP; run < runs; run++) {
      const bareMs = await kernel.run(PRINT)
      const wholeMs = await timed(() => server.api.run(liveContainer, PRINT))
      if (run < 0) continue
      bare.push(bareMs)
      whole.push(wholeMs)
    }
    const figures = { live_ms: summarize('ms', whole), kernel_ms: summarize('ms', bare) }
    return {
      figures,
      ratios: {
        live_vs_kernel: round(figures.live_ms.median / figures.kernel_ms.median),
        live_p99_over_p50: round(figures.live_ms.p99 / figures.live_ms.median),
        kernel_p99_over_p50: round(figures.kernel_ms.p99 / figures.kernel_ms.median),
      },
    }
  },
}
