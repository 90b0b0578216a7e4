import type { QueueMessages, QueueName } from '../model/messages.ts'

/** Sends hints. A message may arrive twice, late or never; the row in the table is the source of truth. */
export interface Queue {
  /** `group` is the tenant: queues are fair between groups. */
  send<Q extends QueueName>(
    queue: Q,
    message: QueueMessages[Q],
    options: { readonly group: string; readonly delaySeconds?: number },
  ): Promise<void>
  check(): Promise<void>
}

/** Delivers the messages of the queues to handlers in this process. */
export interface QueueConsumer {
  /** Delivers messages until the signal aborts. Resolves once the handlers that run then have ended. */
  consume<Q extends QueueName>(queue: Q, options: ConsumeOptions<Q>): Promise<void>
  /** The same for the queue's dead letters. A body may be anything, so the handler gets the text; a failed one is handled again later. */
  consumeDeadLetters(queue: QueueName, options: DeadLetterOptions): Promise<void>
}

export interface ConsumeOptions<Q extends QueueName> {
  /** A resolved handler acknowledges the message. A rejected one leaves it for redelivery, after MAX_RECEIVES for the dead-letter queue. */
  readonly handler: (message: QueueMessages[Q], delivery: Delivery) => Promise<void>
  /** Maximum number of handlers that run at the same time. */
  readonly concurrency: number
  /** A group gets its share of these handlers only (`admitsShare`), where the queue knows the groups. By default it may get all. */
  readonly isShared?: boolean
  readonly signal: AbortSignal
  /** Receives failures of handlers, and of polls with null; delivery continues. */
  readonly onError: (error: unknown, delivery: Delivery | null) => void
  /** How long a message is hidden after its handler failed, seconds. */
  readonly backOffSeconds?: (receives: number) => number
}

export interface DeadLetterOptions {
  readonly handler: (body: string) => Promise<void>
  readonly signal: AbortSignal
  readonly onError: (error: unknown, delivery: null) => void
}

export interface Delivery {
  readonly messageId: string
  /** 1 at the first delivery. */
  readonly receives: number
}
