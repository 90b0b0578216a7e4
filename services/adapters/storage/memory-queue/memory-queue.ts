import { randomUUID } from 'node:crypto'
import { MAX_RECEIVES, QUEUES, type QueueMessages, type QueueName } from '../../../model/messages.ts'
import type { ConsumeOptions, DeadLetterOptions, Queue, QueueConsumer } from '../../../ports/queue.ts'
import { admitsShare } from '../../../model/tenants/share.ts'
import { currentTraceparent, inTrace, parseTraceparent } from '../../../model/trace.ts'
import { redeliveryDelay } from '../redelivery-delay.ts'
import { FairQueue } from '../fairness/fair-queue.ts'
import { HeldSlots } from '../fairness/held-slots.ts'

interface Entry<Q extends QueueName> {
  readonly messageId: string
  readonly message: QueueMessages[Q]
  readonly group: string
  readonly traceparent: string | null
  receives: number
}
interface Channel<Q extends QueueName> {
  readonly ready: FairQueue<Entry<Q>>
  readonly deadLetters: FairQueue<Entry<Q>>
  /** Messages whose handler runs; they are invisible to other consumers. */
  inFlight: number
  /** Messages that wait for their delay or back-off. */
  delayed: number
  /** Consumers of `ready` and of `deadLetters`. */
  readonly consumers: Consumers
  readonly deadLetterConsumers: Consumers
}
export interface QueueCounts {
  readonly ready: number
  readonly delayed: number
  readonly inFlight: number
  readonly deadLetters: number
}

/** Delay before a dead letter whose handler failed is handled again, milliseconds. */
const DEAD_LETTER_RETRY_MS = 30_000

/**
 * Queues in this process, with the semantics of the SQS queues: groups, delay, redelivery with back-off, and a dead-letter queue after the
 * last receive. A message is hidden while its handler runs. Messages do not survive the process: the reconciler enqueues due rows again.
 */
export class MemoryQueue implements Queue, QueueConsumer {
  readonly #channels: { readonly [Q in QueueName]: Channel<Q> }

  constructor() {
    this.#channels = Object.fromEntries(QUEUES.map((queue) => [queue, newChannel()])) as never
  }

  async send<Q extends QueueName>(
    queue: Q,
    message: QueueMessages[Q],
    { group, delaySeconds = 0 }: { readonly group: string; readonly delaySeconds?: number },
  ): Promise<void> {
    const entry = { messageId: randomUUID(), message, group, traceparent: currentTraceparent(), receives: 0 }
    this.#addLater(this.#channels[queue], entry, delaySeconds)
  }

  async check(): Promise<void> {}

  counts(queue: QueueName): QueueCounts {
    const { ready, delayed, inFlight, deadLetters } = this.#channels[queue]
    return { ready: ready.size, delayed, inFlight, deadLetters: deadLetters.size }
  }

  consume<Q extends QueueName>(queue: Q, options: ConsumeOptions<Q>): Promise<void> {
    const channel = this.#channels[queue]
    const { concurrency: capacity, isShared = false, signal } = options
    const held = new HeldSlots()
    const admits = (group: string): boolean => !isShared || admitsShare({ held: held.all, heldByTenant: held.of(group), capacity })
    return pump(signal, {
      consumers: channel.consumers,
      isFull: (running) => running >= capacity,
      next: () => {
        const entry = channel.ready.take(admits)
        return entry === undefined ? null : held.during(entry.group, this.#handle(channel, entry, options))
      },
    })
  }

  consumeDeadLetters(queue: QueueName, { handler, signal, onError }: DeadLetterOptions): Promise<void> {
    const channel: Channel<QueueName> = this.#channels[queue]
    const handle = async (entry: Entry<QueueName>): Promise<void> => {
      try {
        // The handler joins the trace of the row that the message names.
        await inTrace(null, () => handler(JSON.stringify(entry.message)))
      } catch (error) {
        onError(error, null)
        after(DEAD_LETTER_RETRY_MS, () => {
          channel.deadLetters.add(entry.group, entry)
          channel.deadLetterConsumers.wake()
        })
      }
    }
    return pump(signal, {
      consumers: channel.deadLetterConsumers,
      isFull: (running) => running >= 1,
      next: () => {
        const entry = channel.deadLetters.take()
        return entry === undefined ? null : handle(entry)
      },
    })
  }

  async #handle<Q extends QueueName>(channel: Channel<Q>, entry: Entry<Q>, options: ConsumeOptions<Q>): Promise<void> {
    const { handler, onError, backOffSeconds = redeliveryDelay } = options
    channel.inFlight += 1
    entry.receives += 1
    const delivery = { messageId: entry.messageId, receives: entry.receives }
    try {
      await inTrace(parseTraceparent(entry.traceparent), () => handler(entry.message, delivery))
    } catch (error) {
      onError(error, delivery)
      if (entry.receives < MAX_RECEIVES) this.#addLater(channel, entry, backOffSeconds(entry.receives))
      else {
        channel.deadLetters.add(entry.group, entry)
        channel.deadLetterConsumers.wake()
      }
    } finally {
      channel.inFlight -= 1
    }
  }

  #addLater<Q extends QueueName>(channel: Channel<Q>, entry: Entry<Q>, seconds: number): void {
    const add = (): void => {
      channel.ready.add(entry.group, entry)
      channel.consumers.wake()
    }
    if (seconds <= 0) return add()
    channel.delayed += 1
    after(seconds * 1000, () => {
      channel.delayed -= 1
      add()
    })
  }
}

const newChannel = (): Channel<never> => ({
  ready: new FairQueue(),
  deadLetters: new FairQueue(),
  inFlight: 0,
  delayed: 0,
  consumers: new Consumers(),
  deadLetterConsumers: new Consumers(),
})

/** The consumers of one channel, in turns: each wake-up begins with another one, so that all of them receive messages. */
class Consumers {
  readonly #wakeUps: (() => void)[] = []

  add(wakeUp: () => void): void {
    this.#wakeUps.push(wakeUp)
  }

  remove(wakeUp: () => void): void {
    const index = this.#wakeUps.indexOf(wakeUp)
    if (index !== -1) this.#wakeUps.splice(index, 1)
  }

  /** Called after an entry was added. */
  wake(): void {
    const first = this.#wakeUps.shift()
    if (first !== undefined) this.#wakeUps.push(first)
    for (const wakeUp of this.#wakeUps) wakeUp()
  }
}

/** A pending delay does not keep the process alive. */
function after(ms: number, work: () => void): void {
  setTimeout(work, ms).unref()
}

/** Starts arriving work until the signal aborts; resolves when running work has ended. */
function pump(
  signal: AbortSignal,
  source: {
    readonly consumers: Consumers
    readonly isFull: (running: number) => boolean
    /** Starts the next piece of work; null when there is none. It never rejects. */
    readonly next: () => Promise<void> | null
  },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let running = 0
  let isScheduled = false
  const run = (): void => {
    isScheduled = false
    while (!signal.aborted && !source.isFull(running)) {
      const work = source.next()
      if (work === null) break
      running += 1
      void work.then(() => {
        running -= 1
        run()
      })
    }
    if (!signal.aborted || running > 0) return
    source.consumers.remove(wake)
    resolve()
  }
  // The sender continues before the handler begins.
  const wake = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(run)
  }
  source.consumers.add(wake)
  signal.addEventListener('abort', wake, { once: true })
  wake()
  return promise
}
