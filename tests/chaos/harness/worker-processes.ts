import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../../support/seeded.ts'
import type { Harness } from './harness.ts'
import type { StorageAddress } from './storage/chaos-storage.ts'
import type { WorkerProcessConfig } from './worker-process-child.ts'

const CHILD = join(import.meta.dirname, 'worker-process-child.ts')

export interface KilledWorkers {
  readonly killed: () => number
  stop(): Promise<void>
}

/** Worker processes. One at a time gets SIGKILL and is replaced. Their clock runs `speed` times as fast as wall time. */
export async function startWorkerProcesses(
  harness: Harness,
  storage: StorageAddress,
  options: { readonly processes: number; readonly killEveryMs: number; readonly speed: number },
): Promise<KilledWorkers> {
  const { processes, killEveryMs, speed } = options
  const random = seeded(35)
  const children: ChildProcess[] = []
  let started = 0
  let killed = 0
  let isStopping = false
  const startedAt = Date.now()
  const start = async (): Promise<void> => {
    const name = `process-${started++}`
    const config: WorkerProcessConfig = {
      name,
      storage,
      image: harness.platform.driver.images.resolve().reference,
      speed,
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
