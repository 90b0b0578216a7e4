import { setTimeout as delay } from 'node:timers/promises'
import { startWorkerPool, waitUntilEnded } from '../harness/worker-pool.ts'
import { startHarness } from '../harness/harness.ts'
import { acceptMany, observeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 300
const RESTARTS = 5
const DOWN_MS = 500
/** The short form does not wait for real leases. */
const SHORT_SPEED = 10
const RECOVERED_MS = 60_000

/** Restarts table, queues and object store during the work. Messages in flight are lost. */
export const restarts: Scenario = {
  name: 'restarts',
  thresholds: ['D-42'],
  async run({ scale, log }) {
    const harness = await startHarness({ isDurable: true })
    const pool = startWorkerPool(harness, { workers: 2, speed: scale < 0.05 ? SHORT_SPEED : 1, ports: harness.reliablePorts })
    try {
      const jobs = await acceptMany(harness, Math.max(12, Math.round(JOBS * scale)), harness.reliablePorts.queue, {
        pauseMs: 30,
        perContainer: 6,
      })
      const times = Math.max(1, Math.round(RESTARTS * scale))
      for (let time = 0; time < times; time++) {
        await delay(100)
        await harness.storage.restart(DOWN_MS)
      }
      const began = performance.now()
      const open = await waitUntilEnded(harness, jobs, 10 * RECOVERED_MS)
      const seconds = (performance.now() - began) / 1000
      await observeAll(harness, jobs)
      log(`restarts: ${times}, ${jobs.length} jobs, all ended ${seconds.toFixed(0)} s after the last`)
      const failures = open.map((job) => `${job.execution} is stuck`)
      return { histories: [harness.history], failures, figures: { restarts: times, seconds_until_all_ended: Math.round(seconds) } }
    } finally {
      await pool.stop()
      await harness.stop()
    }
  },
}
