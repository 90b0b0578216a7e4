import pLimit from 'p-limit'
import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const CONTAINERS = 5
/** A container's queue accepts this many. */
const QUEUED_EACH = 100
const BUSY = 'import time; time.sleep(0.2)'
const SUBMITTED_AT_ONCE = 16

/** The p99 of a small tenant while another tenant has 500 queued jobs, compared with its p99 on a quiet server. */
export const fairness: Bench = {
  name: 'fairness',
  title: 'print(1) of a small tenant while another has 500 queued jobs, beside its quiet time',
  async run({ isQuick, server, liveContainer }) {
    const runs = isQuick ? 100 : 300
    const measure = async (): Promise<readonly number[]> => {
      const times: number[] = []
      for (let run = 0; run < runs; run++) times.push(await timed(() => server.api.run(liveContainer, PRINT)))
      return times
    }
    const busy = await server.addTenant('busy')
    try {
      const containers = await Promise.all(Array.from({ length: CONTAINERS }, () => busy.createContainer()))
      for (const container of containers) await busy.run(container, 'pass')
      const quiet = await measure()
      const slots = pLimit(SUBMITTED_AT_ONCE)
      const queued = isQuick ? QUEUED_EACH / 5 : QUEUED_EACH
      await Promise.all(
        containers.flatMap((container) =>
          Array.from({ length: queued }, () =>
            slots(() => busy.json('POST', `/v1/containers/${container}/executions?wait=0`, { code: BUSY })),
          ),
        ),
      )
      const contended = await measure()
      for (const container of containers) await busy.deleteContainer(container)
      const figures = { quiet_ms: summarize('ms', quiet), contended_ms: summarize('ms', contended) }
      return { figures, ratios: { fairness_p99: round(figures.contended_ms.p99 / figures.quiet_ms.p99) } }
    } finally {
      await busy.close()
    }
  },
}
