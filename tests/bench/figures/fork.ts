import type { Bench } from '../bench.ts'
import { onGvisor } from '../on-gvisor.ts'
import { timed } from '../sides/time.ts'
import { quantile, summarize } from '../statistics.ts'

const COPIES = 8
/** A process of about 100 MB. */
const PROCESS = `import numpy, pandas, matplotlib.pyplot
frame = pandas.DataFrame({'n': numpy.arange(1_000_000)})
numbers = iter(range(1_000))`

interface Forks {
  readonly data: readonly { readonly id: string; readonly has_processes: boolean }[]
}

/** `POST …/fork` for eight copies, and then the first output of all of them at once. Only where gVisor is registered with the engine. */
export const fork: Bench = {
  name: 'fork',
  title: `copying a container with a process of 100 MB ${COPIES} times on gVisor, and the first output of every copy`,
  run: (context) =>
    onGvisor(context, async ({ api, pool }) => {
      const container = await api.createContainer()
      await api.run(container, PROCESS)
      await pool.waitFor(1)
      const [forkMs, outputMs]: [number[], number[]] = [[], []]
      for (let run = 0; run < (context.isQuick ? 3 : 10); run++) {
        let forks: Forks = { data: [] }
        forkMs.push(await timed(async () => void (forks = await api.json('POST', `/v1/containers/${container}/fork`, { count: COPIES }))))
        if (forks.data.some(({ has_processes }) => !has_processes)) throw new Error('A copy has no processes.')
        outputMs.push(await timed(() => Promise.all(forks.data.map(({ id }) => api.run(id, 'assert next(numbers) == 0')))))
        for (const { id } of forks.data) await api.deleteContainer(id)
        // The source continues too.
        await api.run(container, 'assert len(frame) == 1_000_000')
      }
      return {
        figures: { fork_ms: summarize('ms', forkMs), fork_output_ms: summarize('ms', outputMs) },
        ratios: { fork_p95_ms: quantile(forkMs, 0.95) },
      }
    }),
}
