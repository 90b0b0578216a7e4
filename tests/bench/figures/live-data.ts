import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import { startServer } from '../sides/server.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 30

/** `print(1)` in a live container of a server with a data folder: every acknowledged write is on disk. */
export const liveData: Bench = {
  name: 'live-data',
  title: 'print(1) on a live container with --data, beside a bare ipykernel',
  async run({ isQuick, image, kernel }) {
    const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-bench-'))
    const server = await startServer({ image, poolSize: 1, dataDir })
    try {
      const container = await server.api.createContainer()
      const whole: number[] = []
      const bare: number[] = []
      const runs = isQuick ? 200 : 1_000
      for (let run = -WARM_UP; run < runs; run++) {
        const bareMs = await kernel.run(PRINT)
        const wholeMs = await timed(() => server.api.run(container, PRINT))
        if (run < 0) continue
        bare.push(bareMs)
        whole.push(wholeMs)
      }
      const figures = { live_data_ms: summarize('ms', whole), live_data_kernel_ms: summarize('ms', bare) }
      return { figures, ratios: { live_vs_kernel_data: round(figures.live_data_ms.median / figures.live_data_kernel_ms.median) } }
    } finally {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  },
}
