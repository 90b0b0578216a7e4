import type { QueueMessages, QueueName } from '../../../services/core/messages.ts'
import { MAX_RECEIVES } from '../../../services/core/messages.ts'
import type { Queue } from '../../../services/core/ports/queue.ts'
import { queueDefinitions } from '../../../services/storage/sqs/queue-definitions.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What AWS documents. */
export const LAMBDA_LIMITS = {
  concurrent: 1_000,
  /** Of an event source mapping: invocations at once in the beginning, and how many more each minute while messages wait. */
  mappingStart: 5,
  mappingPerMinute: 60,
} as const

const COLD_START_MS = 400
const SEND_MS = 8
const POLL_MS = 30

interface Waiting {
  readonly body: string
  receives: number
}

export interface LambdaCounts {
  peak: number
  /** Invocations that had to wait because the account's limit was reached. */
  refused: number
  coldStarts: number
  deadLetters: number
  readonly peakByFunction: Record<string, number>
}

/** Lambda's concurrency of one account, and one environment per concurrent invocation of a function. */
export class SimulatedLambda {
  readonly counts: LambdaCounts = { peak: 0, refused: 0, coldStarts: 0, deadLetters: 0, peakByFunction: {} }
  readonly #time: VirtualTime
  readonly #active: Record<string, number> = {}
  #running = 0

  constructor(time: VirtualTime) {
    this.#time = time
  }

  /** A function: `create` makes the handler of a new environment. The result invokes it, and waits while the account has no capacity. */
  define<Event, Answer>(name: string, create: () => (event: Event) => Promise<Answer>): (event: Event) => Promise<Answer> {
    const idle: ((event: Event) => Promise<Answer>)[] = []
    return async (event) => {
      while (this.#running >= LAMBDA_LIMITS.concurrent) {
        this.counts.refused += 1
        await this.#time.sleep(1_000)
      }
      this.#count(name, 1)
      try {
        let handler = idle.pop()
        if (handler === undefined) {
          this.counts.coldStarts += 1
          await this.#time.sleep(COLD_START_MS)
          handler = create()
        }
        try {
          return await handler(event)
        } finally {
          idle.push(handler)
        }
      } finally {
        this.#count(name, -1)
      }
    }
  }

  /** Invocations that run now, by function. */
  active(): Readonly<Record<string, number>> {
    return { ...this.#active }
  }

  #count(name: string, change: number): void {
    this.#running += change
    const active = (this.#active[name] = (this.#active[name] ?? 0) + change)
    this.counts.peak = Math.max(this.counts.peak, this.#running)
    this.counts.peakByFunction[name] = Math.max(this.counts.peakByFunction[name] ?? 0, active)
  }
}

/** The queues with an event source mapping each, which scales as AWS documents it. */
export class SimulatedQueues implements Queue {
  readonly #time: VirtualTime
  readonly #counts: LambdaCounts
  readonly #mappings = new Map<QueueName, Mapping>()

  constructor(time: VirtualTime, counts: LambdaCounts) {
    this.#time = time
    this.#counts = counts
  }

  /** `invoke` resolves with the places of the messages that failed. */
  consume(queue: QueueName, options: { readonly maxConcurrency: number; readonly batchSize: number }, invoke: BatchHandler): void {
    this.#mappings.set(queue, new Mapping(this.#time, this.#counts, queue, options, invoke))
  }

  async send<Q extends QueueName>(queue: Q, message: QueueMessages[Q], options: { readonly delaySeconds?: number }): Promise<void> {
    const body = JSON.stringify(message)
    await this.#time.sleep(SEND_MS)
    const mapping = this.#mappings.get(queue)
    if (mapping !== undefined) this.#time.after(Math.ceil(options.delaySeconds ?? 0) * 1000, () => mapping.add({ body, receives: 0 }))
  }

  async check(): Promise<void> {}

  /** Messages that could be received now, by queue. */
  waiting(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#mappings].map(([name, mapping]) => [name, mapping.waiting]))
  }
}

type BatchHandler = (bodies: readonly string[]) => Promise<readonly number[]>

class Mapping {
  readonly #time: VirtualTime
  readonly #counts: LambdaCounts
  readonly #queue: QueueName
  readonly #options: { readonly maxConcurrency: number; readonly batchSize: number }
  readonly #invoke: BatchHandler
  #waiting: Waiting[] = []
  #active = 0
  #allowed: number = LAMBDA_LIMITS.mappingStart
  #scaledAt: number
  #isPolling = false

  constructor(
    time: VirtualTime,
    counts: LambdaCounts,
    queue: QueueName,
    options: { readonly maxConcurrency: number; readonly batchSize: number },
    invoke: BatchHandler,
  ) {
    this.#time = time
    this.#counts = counts
    this.#queue = queue
    this.#options = options
    this.#invoke = invoke
    this.#scaledAt = time.now()
  }

  get waiting(): number {
    return this.#waiting.length
  }

  add(message: Waiting): void {
    this.#waiting.push(message)
    this.#poll()
  }

  #poll(): void {
    if (this.#isPolling || this.#waiting.length === 0) return
    this.#isPolling = true
    this.#time.after(POLL_MS, () => {
      this.#isPolling = false
      this.#scale()
      while (this.#waiting.length > 0 && this.#active < this.#allowed) void this.#deliver(this.#waiting.splice(0, this.#options.batchSize))
      if (this.#waiting.length > 0) this.#poll()
    })
  }

  /**
   * While more messages wait than the free pollers can receive, it grows by one a second, as AWS documents; without a backlog it shrinks as fast. Short
   * invocations leave pollers free at most moments, so a free poller alone does not mean that there is no backlog.
   */
  #scale(): void {
    const seconds = Math.floor((this.#time.now() - this.#scaledAt) / 1000)
    if (seconds === 0) return
    this.#scaledAt += seconds * 1000
    const hasBacklog = this.#waiting.length > (this.#allowed - this.#active) * this.#options.batchSize
    const change = (LAMBDA_LIMITS.mappingPerMinute / 60) * (hasBacklog ? 1 : -seconds)
    this.#allowed = Math.min(this.#options.maxConcurrency, Math.max(LAMBDA_LIMITS.mappingStart, this.#allowed + change))
  }

  async #deliver(batch: readonly Waiting[]): Promise<void> {
    this.#active += 1
    for (const message of batch) message.receives += 1
    const failed = await this.#invoke(batch.map(({ body }) => body)).catch(() => batch.map((_, place) => place))
    this.#active -= 1
    for (const place of failed) {
      const message = batch[place]
      if (message === undefined) continue
      if (message.receives >= MAX_RECEIVES) this.#counts.deadLetters += 1
      else this.#time.after(queueDefinitions[this.#queue].visibilityTimeoutSeconds * 1000, () => this.add(message))
    }
    this.#poll()
  }
}
