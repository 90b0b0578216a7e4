import { setTimeout as delay } from 'node:timers/promises'
import { hasEnded } from '../../../services/model/executions/execution.ts'
import type { Clock } from '../../../services/ports/clock.ts'
import type { Queue } from '../../../services/ports/queue.ts'
import type { Telemetry } from '../../../services/ports/telemetry.ts'
import type { Job } from '../history.ts'
import type { Ports } from './killable-ports.ts'
import { createWorker, type Worker } from './worker.ts'
import type { Harness } from './harness.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const RECONCILE_EVERY_MS = 5_000
const CONCURRENCY = 24

export interface WorkerPool {
  readonly workers: readonly Worker[]
  readonly clock: Clock
  stop(): Promise<void>
}

/** A clock that runs `speed` times as fast as wall time, so that leases expire soon. */
export function acceleratedClock(speed: number): Clock {
  const began = Date.now()
  return { now: () => began + (Date.now() - began) * speed }
}

interface WorkerPoolOptions {
  readonly workers: number
  readonly speed: number
  /** Shared with other pools; a new one of this speed if absent. */
  readonly clock?: Clock
  readonly ports?: Ports
  readonly telemetry?: Telemetry
  /** True for jobs whose step crashes the worker. */
  readonly crashesOn?: (execution: string) => boolean
  /** Polls this queue only. */
  readonly only?: 'placements'
}

/** Starts workers that consume the queues, and one reconciler. All share this process. */
export function startWorkerPool(harness: Harness, options: WorkerPoolOptions): WorkerPool {
  const { workers: size, speed, ports = harness.queuedPorts, telemetry = silentTelemetry, crashesOn = () => false, only } = options
  const { clock = acceleratedClock(speed) } = options
  const stopping = new AbortController()
  const { history } = harness
  const workers = Array.from({ length: size }, (_, index) => createWorker({ name: `pool-${index}`, ports, history, clock, telemetry }))
  const consume = <Q extends 'executions' | 'placements'>(worker: Worker, queue: Q): Promise<void> =>
    harness.storage.consumer.consume(queue, {
      concurrency: CONCURRENCY,
      signal: stopping.signal,
      onError: () => undefined,
      backOffSeconds: () => 1,
      handler: async (message, { messageId }) => {
        harness.history.add({ type: 'delivered', queue, message: messageId })
        if (message.type === 'execution.step' && crashesOn(message.executionId)) throw new Error('The code crashed the worker')
        await worker.handle({ queue, body: message, id: messageId } as Parameters<Worker['handle']>[0])
      },
    })
  const reconcileRepeatedly = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await workers[0]?.reconcile().catch(() => undefined)
      await delay(RECONCILE_EVERY_MS / speed, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const queues = only === undefined ? (['executions', 'placements'] as const) : [only]
  const loops = Promise.allSettled([...workers.flatMap((worker) => queues.map((queue) => consume(worker, queue))), reconcileRepeatedly()])
  return {
    workers,
    clock,
    async stop() {
      stopping.abort()
      await Promise.race([loops, delay(5_000)])
    },
  }
}

/** Waits until the table has recorded an end for each job. Returns the jobs without an end after `limitMs`. */
export async function waitUntilEnded(
  harness: Harness,
  jobs: readonly Job[],
  limitMs: number,
  onEnded: () => void = () => undefined,
): Promise<readonly Job[]> {
  const open = new Map(jobs.map((job) => [job.execution, job]))
  const until = Date.now() + limitMs
  for (let read = 0; ; await delay(50)) {
    for (; read < harness.history.entries.length; read++) {
      const entry = harness.history.entries[read]
      if (entry?.type === 'row' && hasEnded(entry.row.status) && open.delete(entry.row.id)) onEnded()
    }
    if (open.size === 0 || Date.now() > until) return [...open.values()]
  }
}

/** Waits until no queue holds a visible, in-flight or delayed message. */
export async function waitUntilQueuesEmpty({ storage }: Harness, limitMs: number): Promise<void> {
  for (const until = Date.now() + limitMs; Date.now() < until; await delay(200)) if ((await storage.pendingMessages()) === 0) return
}

/** Divides message delays by the speed of the workers' clock. */
export const withScaledDelays = (queue: Queue, speed: number): Queue => ({
  ...queue,
  send: (name, message, options) =>
    queue.send(name, message, {
      ...options,
      ...(options.delaySeconds === undefined ? {} : { delaySeconds: options.delaySeconds / speed }),
    }),
})

/** Sends every message two to `maxCopies` times with random delays, so that copies arrive late and out of order. */
export function withDuplicates(queue: Queue, random: () => number, maxCopies: number, maxDelaySeconds: number): Queue {
  return {
    ...queue,
    async send(name, message, options) {
      const copies = 2 + Math.floor(random() * (maxCopies - 1))
      const randomDelay = (): number => (options.delaySeconds ?? 0) + Math.floor(random() * (maxDelaySeconds + 1))
      await Promise.all(Array.from({ length: copies }, () => queue.send(name, message, { ...options, delaySeconds: randomDelay() })))
    },
  }
}
