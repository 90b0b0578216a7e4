import { setTimeout as delay } from 'node:timers/promises'
import { takeOverJobs } from '../../../services/entries/local/take-over-jobs.ts'
import type { Harness } from './harness.ts'
import { killablePorts } from './killable-ports.ts'
import { acceleratedClock, startWorkerPool } from './worker-pool.ts'
import type { KilledWorkers } from './worker-processes.ts'

/**
 * Servers of one process on the embedded storage. Each is killed as a whole: every worker stops in the middle of its call, and the queues are
 * lost. The next server opens the same database and takes the jobs over.
 */
export async function startKilledServers(
  harness: Harness,
  options: { readonly workers: number; readonly killEveryMs: number; readonly speed: number },
): Promise<KilledWorkers> {
  const { workers, killEveryMs, speed } = options
  const clock = acceleratedClock(speed)
  let killed = 0
  let isStopping = false
  const start = async () => {
    const ports = killablePorts(harness.reliablePorts, Infinity, 'before', () => undefined)
    await takeOverJobs(harness.reliablePorts.table, clock.now())
    return { ports, pool: startWorkerPool(harness, { workers, speed, clock, ports: ports.ports }) }
  }
  let server = await start()
  const killing = (async () => {
    while (!isStopping) {
      await delay(killEveryMs)
      if (isStopping) return
      server.ports.kill()
      killed += 1
      harness.history.add({ type: 'killed', worker: `server-${killed}`, at: 'SIGKILL of the server' })
      await server.pool.stop()
      await harness.storage.restart(0)
      server = await start()
    }
  })()
  return {
    killed: () => killed,
    async stop() {
      isStopping = true
      await killing
      await server.pool.stop()
    },
  }
}
