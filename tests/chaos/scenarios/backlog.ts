import { startKilledServers } from '../harness/killed-servers.ts'
import { startWorkerPool, waitUntilEnded, type WorkerPool } from '../harness/worker-pool.ts'
import { startWorkerProcesses, type KilledWorkers } from '../harness/worker-processes.ts'
import { startHarness, type Harness } from '../harness/harness.ts'
import { acceptMany, observeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 1_000
const PROCESSES = 3
/** Between two kills, milliseconds. Leases expire ten times as fast. */
const KILL_EVERY_MS = 2_000
/** The short form ends sooner. */
const SHORT_KILL_MS = 500
const SPEED = 10
const TIMEOUT_MS = 900_000

/** Kills worker processes one after another; with a storage of one process, whole servers. */
async function startKilled(harness: Harness, isShort: boolean): Promise<KilledWorkers> {
  const killEveryMs = isShort ? SHORT_KILL_MS : KILL_EVERY_MS
  const { address } = harness.storage
  if (address === null) return startKilledServers(harness, { workers: 1, killEveryMs, speed: SPEED })
  return startWorkerProcesses(harness, address, { processes: isShort ? 2 : PROCESSES, killEveryMs, speed: SPEED })
}

/** Works off a thousand queued jobs while the processes that run them are killed. */
export const backlog: Scenario = {
  name: 'backlog',
  thresholds: ['D-35'],
  async run({ scale, log }) {
    const harness = await startHarness()
    const placements = { workers: 1, speed: SPEED, ports: harness.reliablePorts, only: 'placements' } as const
    // With worker processes, the place step and the reconciler stay alive; only the processes with the run step are killed.
    const pool: WorkerPool | null = harness.storage.address === null ? null : startWorkerPool(harness, placements)
    const count = Math.max(20, Math.round(JOBS * scale))
    let workers: KilledWorkers | null = null
    try {
      const jobs = await acceptMany(harness, count, harness.reliablePorts.queue, { pauseMs: 20, perContainer: 10 })
      const began = performance.now()
      workers = await startKilled(harness, scale < 0.05)
      const open = await waitUntilEnded(harness, jobs, TIMEOUT_MS)
      const seconds = (performance.now() - began) / 1000
      await workers.stop()
      await observeAll(harness, jobs)
      const rate = count / seconds
      log(`backlog: ${count} jobs in ${seconds.toFixed(0)} s, ${workers.killed()} processes killed`)
      const failures = open.map((job) => `${job.execution} is stuck`)
      if (workers.killed() === 0) failures.push('no process was killed')
      return {
        histories: [harness.history],
        failures,
        figures: { processes_killed: workers.killed(), jobs_per_second: Math.round(rate * 10) / 10 },
      }
    } finally {
      await workers?.stop()
      await pool?.stop()
      await harness.stop()
    }
  },
}
