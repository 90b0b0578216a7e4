import type { Bench, BenchContext } from '../bench.ts'
import { timeFirstExecution } from '../sides/first-execution.ts'
import { startServer } from '../sides/server.ts'
import { timed } from '../sides/time.ts'
import { startUnpickler, type UnpickleTime } from '../sides/unpickle.ts'
import { median, round, summarize, type Figure } from '../statistics.ts'

const POOL = 1
const frameOf = (megabytes: number): string =>
  `import numpy, pandas; frame = pandas.DataFrame(numpy.random.default_rng(1).normal(size=(${megabytes * 12_500}, 10)))`

/**
 * The first execution of a hibernated container, compared with a plain process that starts and unpickles the same variable. The cost of a claim
 * is subtracted: it is the first execution of a new container on the same server. All three are measured in turns.
 */
export const wake: Bench = {
  name: 'wake',
  title: 'waking a container with a DataFrame of 10 and 100 MB, beside unpickling it in a plain process',
  async run(context) {
    const server = await startServer({ image: context.image, poolSize: POOL, idleSeconds: 1 })
    try {
      const figures: Record<string, Figure> = {}
      const ratios: number[] = []
      for (const [megabytes, runs] of context.isQuick ? [[10, 2] as const] : [[10, 5] as const, [100, 5] as const]) {
        const measured = await measure(context, server, megabytes, runs)
        const { wakeMs, claimMs, plainTimes } = measured
        const name = `wake_${megabytes}mb`
        figures[`${name}_ms`] = summarize('ms', wakeMs)
        figures[`${name}_claim_ms`] = summarize('ms', claimMs)
        const wholeMs = plainTimes.map(({ whole }) => whole)
        figures[`unpickle_${megabytes}mb_ms`] = summarize('ms', wholeMs)
        figures[`unpickle_${megabytes}mb_load_ms`] = summarize(
          'ms',
          plainTimes.map(({ load }) => load),
        )
        ratios.push((median(wakeMs) - median(claimMs)) / median(wholeMs))
      }
      return { figures, ratios: { wake_vs_unpickle: round(Math.max(...ratios)) } }
    } finally {
      await server.stop()
    }
  },
}

async function measure({ image }: BenchContext, server: Awaited<ReturnType<typeof startServer>>, megabytes: number, runs: number) {
  const { api, pool, sleep } = server
  const wakeMs: number[] = []
  const claimMs: number[] = []
  const plainTimes: UnpickleTime[] = []
  await using unpickler = startUnpickler(image, frameOf(megabytes))
  const sleeper = await api.createContainer()
  await api.run(sleeper, frameOf(megabytes))
  for (let run = 0; run < runs; run++) {
    await sleep.until(sleeper)
    await pool.waitFor(POOL)
    // The first one runs beside the removal of the sandbox that went to sleep.
    await unpickler.unpickle()
    plainTimes.push(await unpickler.unpickle())
    claimMs.push(await timeFirstExecution(api))
    await pool.waitFor(POOL)
    wakeMs.push(await timed(() => api.run(sleeper, 'assert len(frame) > 0')))
  }
  await api.deleteContainer(sleeper)
  return { wakeMs, claimMs, plainTimes }
}
