import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import { startBareKernels } from '../sides/bare-kernel.ts'
import type { ApiClient } from '../sides/api-client.ts'
import { round, summarize } from '../statistics.ts'

const CONTAINERS = 8

/** Executions per second of eight busy containers, compared with eight bare kernels on the same cores. */
export const throughput: Bench = {
  name: 'throughput',
  title: `throughput of ${CONTAINERS} live containers, beside ${CONTAINERS} bare ipykernels`,
  async run({ isQuick, server, image }) {
    const seconds = isQuick ? 2 : 5
    const kernels = await startBareKernels(image, CONTAINERS)
    const containers: string[] = []
    try {
      for (let index = 0; index < CONTAINERS; index++) {
        const container = await server.api.createContainer()
        containers.push(container)
        await server.api.run(container, PRINT)
      }
      await server.pool.waitFor(1)
      const bare: number[] = []
      const whole: number[] = []
      for (let slice = 0; slice < (isQuick ? 2 : 4); slice++) {
        bare.push(await kernels.load(PRINT, seconds))
        whole.push(await loadContainers(server.api, containers, seconds))
      }
      const figures = { throughput: summarize('1/s', whole), kernels_throughput: summarize('1/s', bare) }
      return { figures, ratios: { throughput_vs_kernels: round(figures.throughput.median / figures.kernels_throughput.median) } }
    } finally {
      await kernels.stop()
      for (const container of containers) await server.api.deleteContainer(container)
    }
  },
}

/** One caller per container, without a pause between calls. */
async function loadContainers(api: ApiClient, containers: readonly string[], seconds: number): Promise<number> {
  const startedAt = performance.now()
  const until = startedAt + seconds * 1_000
  let count = 0
  await Promise.all(
    containers.map(async (container) => {
      while (performance.now() < until) {
        await api.run(container, PRINT)
        count++
      }
    }),
  )
  return count / ((performance.now() - startedAt) / 1_000)
}
