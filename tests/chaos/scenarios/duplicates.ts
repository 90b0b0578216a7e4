import { seeded } from '../../support/seeded.ts'
import { withDuplicates, startWorkerPool, waitUntilEnded, waitUntilQueuesEmpty } from '../harness/worker-pool.ts'
import { startHarness } from '../harness/harness.ts'
import { acceptMany, observeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 1_000
const MAX_COPIES = 10
const MAX_DELAY_SECONDS = 4
const TIMEOUT_MS = 900_000
const FAIL_FAST_TIMEOUT_MS = 40_000

/** Delivers every message two to ten times, concurrently, late and out of order, also after its job has ended. */
export const duplicates: Scenario = {
  name: 'duplicates',
  thresholds: ['D-32'],
  async run({ scale, log, failFast = false }) {
    const harness = await startHarness()
    const queue = withDuplicates(harness.reliablePorts.queue, seeded(32), MAX_COPIES, scale < 0.05 ? 1 : MAX_DELAY_SECONDS)
    const pool = startWorkerPool(harness, { workers: 4, speed: 1, ports: { ...harness.reliablePorts, queue } })
    try {
      const jobs = await acceptMany(harness, Math.max(16, Math.round(JOBS * scale)), queue)
      // Messages for jobs that are not at the head of their queue; the reconciler sends such messages too.
      for (const { tenant, container: containerId, execution: executionId } of jobs.toReversed())
        await queue.send('executions', { v: 1, type: 'execution.step', tenant, containerId, executionId }, { group: tenant })
      const open = await waitUntilEnded(harness, jobs, failFast ? FAIL_FAST_TIMEOUT_MS : TIMEOUT_MS)
      // The remaining copies arrive after their jobs have ended.
      await waitUntilQueuesEmpty(harness, 60_000)
      await observeAll(harness, jobs)
      const delivered = harness.history.entries.filter((entry) => entry.type === 'delivered').length
      log(`duplicates: ${jobs.length} jobs, ${delivered} deliveries`)
      return { histories: [harness.history], failures: open.map((job) => `${job.execution} is stuck`), figures: { deliveries: delivered } }
    } finally {
      await pool.stop()
      await harness.stop()
    }
  },
}
