import { setTimeout as delay } from 'node:timers/promises'
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { hasEnded } from '../../../services/core/executions/execution.ts'
import { QUEUES } from '../../../services/core/messages.ts'
import type { Clock } from '../../../services/core/ports/clock.ts'
import type { Queue } from '../../../services/core/ports/queue.ts'
import { silentTelemetry, type Telemetry } from '../../../services/core/ports/telemetry.ts'
import { consumeQueue } from '../../../services/storage/sqs/consumer.ts'
import type { Job } from '../history.ts'
import type { Ports } from './killable.ts'
import { createWorker, type Worker } from './worker.ts'
import type { World } from './world.ts'

const RECONCILE_EVERY_MS = 5_000
const AT_ONCE = 24

export interface Crew {
  readonly workers: readonly Worker[]
  readonly clock: Clock
  stop(): Promise<void>
}

/** A clock that runs `speed` times as fast as the wall's, so that leases run out within a test's patience. */
export function quickClock(speed: number): Clock {
  const began = Date.now()
  return { now: () => began + (Date.now() - began) * speed }
}

interface CrewOptions {
  readonly workers: number
  readonly speed: number
  readonly ports?: Ports
  readonly telemetry?: Telemetry
  /** Jobs whose code takes its worker along. */
  readonly refuses?: (execution: string) => boolean
  /** Leaves the other queue to somebody else. */
  readonly only?: 'placements'
}

/** Workers that poll the real queues, each a process of its own in everything but name, and a reconciler. */
export function startCrew(world: World, options: CrewOptions): Crew {
  const { workers: size, speed, ports = world.queued, telemetry = silentTelemetry, refuses = () => false, only } = options
  const clock = quickClock(speed)
  const stopping = new AbortController()
  const { history } = world
  const workers = Array.from({ length: size }, (_, index) => createWorker({ name: `crew-${index}`, ports, history, clock, telemetry }))
  const consume = <Q extends 'executions' | 'placements'>(worker: Worker, queue: Q): Promise<void> =>
    consumeQueue<Q>({
      client: world.clients.sqs,
      queue,
      queueUrl: world.resources.queueUrls[queue],
      concurrency: AT_ONCE,
      signal: stopping.signal,
      onError: () => undefined,
      backOffSeconds: () => 1,
      handler: async (message, { messageId }) => {
        world.history.add({ type: 'delivered', queue, message: messageId })
        if (message.type === 'execution.step' && refuses(message.executionId)) throw new Error('This code crashes its worker')
        await worker.handle({ queue, message, id: messageId } as Parameters<Worker['handle']>[0])
      },
    })
  const repair = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await workers[0]?.reconcile().catch(() => undefined)
      await delay(RECONCILE_EVERY_MS / speed, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const queues = only === undefined ? (['executions', 'placements'] as const) : [only]
  const loops = Promise.allSettled([...workers.flatMap((worker) => queues.map((queue) => consume(worker, queue))), repair()])
  return {
    workers,
    clock,
    async stop() {
      stopping.abort()
      await Promise.race([loops, delay(5_000)])
    },
  }
}

/** Resolves when these jobs have ended, by the table's own account; with those that have not when it takes longer than this. */
export async function untilEnded(world: World, jobs: readonly Job[], limitMs: number): Promise<readonly Job[]> {
  const open = new Map(jobs.map((job) => [job.execution, job]))
  const until = Date.now() + limitMs
  for (let read = 0; ; await delay(50)) {
    for (; read < world.history.entries.length; read++) {
      const entry = world.history.entries[read]
      if (entry?.type === 'row' && hasEnded(entry.row.status)) open.delete(entry.row.id)
    }
    if (open.size === 0 || Date.now() > until) return [...open.values()]
  }
}

/** Resolves when no queue holds a message, waiting, hidden or delayed. */
export async function untilQuiet(world: World, sqs: World['clients']['sqs'], limitMs: number): Promise<void> {
  const AttributeNames = [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ] as const
  for (const until = Date.now() + limitMs; Date.now() < until; await delay(200)) {
    const counts = await Promise.all(
      QUEUES.map((queue) =>
        sqs.send(new GetQueueAttributesCommand({ QueueUrl: world.resources.queueUrls[queue], AttributeNames: [...AttributeNames] })),
      ),
    )
    if (counts.every(({ Attributes = {} }) => Object.values(Attributes).every((count) => count === '0'))) return
  }
}

/** Queues whose delays pass as fast as the clock of the workers. */
export const paced = (queue: Queue, speed: number): Queue => ({
  ...queue,
  send: (name, message, options) =>
    queue.send(name, message, {
      ...options,
      ...(options.delaySeconds === undefined ? {} : { delaySeconds: options.delaySeconds / speed }),
    }),
})

/** Sends every message `copies` times and more, each copy at a time of its own, so that they arrive twice, late and in another order. */
export function duplicating(queue: Queue, random: () => number, maxCopies: number, maxLateSeconds: number): Queue {
  return {
    ...queue,
    async send(name, message, options) {
      const copies = 2 + Math.floor(random() * (maxCopies - 1))
      const late = (): number => (options.delaySeconds ?? 0) + Math.floor(random() * (maxLateSeconds + 1))
      await Promise.all(Array.from({ length: copies }, () => queue.send(name, message, { ...options, delaySeconds: late() })))
    },
  }
}
