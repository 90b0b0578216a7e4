import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { WorkerProcessConfig } from '../harness/worker-process-child.ts'
import { startWorkerPool, waitUntilEnded } from '../harness/worker-pool.ts'
import { seeded } from '../harness/faults.ts'
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
const CHILD = join(import.meta.dirname, '..', 'harness', 'worker-process-child.ts')

interface WorkerProcesses {
  readonly killed: () => number
  stop(): Promise<void>
}

/** Worker processes. One at a time gets SIGKILL and is replaced. */
async function startWorkerProcesses(harness: Harness, processes: number, killEveryMs: number): Promise<WorkerProcesses> {
  const random = seeded(35)
  const children: ChildProcess[] = []
  let started = 0
  let killed = 0
  let isStopping = false
  const startedAt = Date.now()
  const start = async (): Promise<void> => {
    const { region, credentials, endpoints } = harness.emulators
    const name = `process-${started++}`
    const config: WorkerProcessConfig = {
      name,
      region,
      credentials,
      endpoints,
      resources: harness.resources,
      image: harness.platform.driver.image,
      speed: SPEED,
      startedAt,
    }
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, JSON.stringify(config)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    await once(child.stdout, 'data')
  }
  await Promise.all(Array.from({ length: processes }, start))
  const killing = (async () => {
    while (!isStopping) {
      await delay(killEveryMs)
      const [victim] = children.splice(Math.floor(random() * children.length), 1)
      if (victim === undefined) return
      if (isStopping) {
        children.push(victim)
        return
      }
      victim.kill('SIGKILL')
      killed += 1
      harness.history.add({ type: 'killed', worker: String(victim.pid), at: 'SIGKILL' })
      await start()
    }
  })()
  return {
    killed: () => killed,
    async stop() {
      isStopping = true
      await killing
      for (const child of children) child.kill('SIGKILL')
    },
  }
}

/** Works off a thousand queued jobs while the worker processes are killed one after another. */
export const backlog: Scenario = {
  name: 'backlog',
  thresholds: ['D-35'],
  async run({ scale, log }) {
    const harness = await startHarness()
    // The place step and the reconciler stay alive; only the processes with the run step are killed.
    const pool = startWorkerPool(harness, { workers: 1, speed: SPEED, ports: harness.reliablePorts, only: 'placements' })
    const count = Math.max(20, Math.round(JOBS * scale))
    let workers: WorkerProcesses | null = null
    try {
      const jobs = await acceptMany(harness, count, harness.reliablePorts.queue, { pauseMs: 20, perContainer: 10 })
      const began = performance.now()
      workers = await (scale < 0.05
        ? startWorkerProcesses(harness, 2, SHORT_KILL_MS)
        : startWorkerProcesses(harness, PROCESSES, KILL_EVERY_MS))
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
      await pool.stop()
      await harness.stop()
    }
  },
}
