import type { QueueMessages, QueueName } from '../../../services/model/messages.ts'
import { MAX_RECEIVES } from '../../../services/model/messages.ts'
import type { Queue } from '../../../services/ports/queue.ts'
import { queueDefinitions } from '../../../services/adapters/storage/sqs/queue-definitions.ts'
import { between, LAMBDA_LIMITS, QUEUE_MODEL } from './aws-limits.ts'
import { TooManyRequestsError } from './simulated-lambda.ts'
import type { VirtualTime } from './virtual-time.ts'

interface Waiting {
  readonly body: string
  receives: number
}

export interface QueueCounts {
  deadLetters: number
  /** Messages that were delivered a second time although the first delivery succeeded. */
  duplicates: number
}

/** Resolves with the places of the messages that failed. */
type BatchHandler = (bodies: readonly string[]) => Promise<readonly number[]>

interface MappingOptions {
  readonly queue: QueueName
  readonly maxConcurrency: number
  readonly batchSize: number
  readonly invoke: BatchHandler
}

interface SimulationContext {
  readonly time: VirtualTime
  readonly random: () => number
  readonly counts: QueueCounts
}

/** Standard queues with an event source mapping each, which scales as AWS documents it. */
export class SimulatedQueues implements Queue {
  readonly counts: QueueCounts = { deadLetters: 0, duplicates: 0 }
  readonly #context: SimulationContext
  readonly #mappings = new Map<QueueName, Mapping>()

  constructor(time: VirtualTime, random: () => number) {
    this.#context = { time, random, counts: this.counts }
  }

  consume(options: MappingOptions): void {
    this.#mappings.set(options.queue, new Mapping(this.#context, options))
  }

  async send<Q extends QueueName>(queue: Q, message: QueueMessages[Q], options: { readonly delaySeconds?: number }): Promise<void> {
    const { time, random } = this.#context
    const body = JSON.stringify(message)
    await time.sleep(between(random, QUEUE_MODEL.sendMs))
    const mapping = this.#mappings.get(queue)
    if (mapping !== undefined) time.after(Math.ceil(options.delaySeconds ?? 0) * 1000, () => mapping.add({ body, receives: 0 }))
  }

  async check(): Promise<void> {}

  /** Messages that could be received now, by queue. */
  waiting(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#mappings].map(([name, mapping]) => [name, mapping.waiting]))
  }
}

class Mapping {
  readonly #context: SimulationContext
  readonly #options: MappingOptions
  readonly #waiting: Waiting[] = []
  #active = 0
  #allowed: number = LAMBDA_LIMITS.mappingStart
  #scaledAt: number
  #isPolling = false

  constructor(context: SimulationContext, options: MappingOptions) {
    this.#context = context
    this.#options = options
    this.#scaledAt = context.time.now()
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
    this.#context.time.after(QUEUE_MODEL.pollMs, () => {
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
    const seconds = Math.floor((this.#context.time.now() - this.#scaledAt) / 1000)
    if (seconds === 0) return
    this.#scaledAt += seconds * 1000
    const hasBacklog = this.#waiting.length > (this.#allowed - this.#active) * this.#options.batchSize
    this.#allow((LAMBDA_LIMITS.mappingPerMinute / 60) * (hasBacklog ? 1 : -seconds))
  }

  #allow(change: number): void {
    this.#allowed = Math.min(this.#options.maxConcurrency, Math.max(LAMBDA_LIMITS.mappingStart, this.#allowed + change))
  }

  async #deliver(batch: readonly Waiting[]): Promise<void> {
    const { time, random, counts } = this.#context
    this.#active += 1
    const hiddenUntil = time.now() + queueDefinitions[this.#options.queue].visibilityTimeoutSeconds * 1000
    for (const message of batch) {
      message.receives += 1
      if (random() >= QUEUE_MODEL.twice) continue
      counts.duplicates += 1
      time.after(between(random, QUEUE_MODEL.twiceMs), () => this.add({ ...message }))
    }
    const failed = await this.#invoke(batch, hiddenUntil)
    this.#active -= 1
    for (const place of failed) {
      const message = batch[place]
      if (message === undefined) continue
      if (message.receives >= MAX_RECEIVES) counts.deadLetters += 1
      else time.after(hiddenUntil - time.now(), () => this.add(message))
    }
    this.#poll()
  }

  /**
   * A mapping repeats an invocation that found no capacity until the messages become visible again. It does so, and after a failed invocation, with one
   * poller less; failures of single messages cost none, because the functions report them.
   */
  async #invoke(batch: readonly Waiting[], hiddenUntil: number): Promise<readonly number[]> {
    const { time } = this.#context
    let pauseMs: number = QUEUE_MODEL.throttledPauseMs.first
    for (;;) {
      try {
        return await this.#options.invoke(batch.map(({ body }) => body))
      } catch (error) {
        this.#allow(-1)
        if (!(error instanceof TooManyRequestsError) || time.now() + pauseMs >= hiddenUntil) return batch.map((_, place) => place)
        await time.sleep(pauseMs)
        pauseMs = Math.min(2 * pauseMs, QUEUE_MODEL.throttledPauseMs.longest)
      }
    }
  }
}
