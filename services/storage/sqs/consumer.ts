import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { QueueMessages, QueueName } from '../../core/messages.ts'
import { inTrace, parseTraceparent } from '../../core/trace.ts'
import { parseMessage } from './parse-message.ts'
import { TRACE_ATTRIBUTE } from './sqs-queue.ts'

export interface ConsumerOptions<Q extends QueueName> {
  readonly client: SQSClient
  /** Whose messages these are; a dead-letter queue holds those of its source. */
  readonly queue: Q
  readonly queueUrl: string
  /** A resolved handler has done with the message. A rejected one leaves it for another try. */
  readonly handler: (message: QueueMessages[Q], delivery: Delivery) => Promise<void>
  /** Handlers at the same time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Hears of messages that failed and of polls that did; the loop goes on. */
  readonly onError: (error: unknown, delivery: Delivery | null) => void
  /** A message is hidden for this long and, while its handler works, again and again, seconds. */
  readonly visibilitySeconds?: number
  /** How long a message whose handler failed stays away, seconds. */
  readonly backOffSeconds?: (receives: number) => number
}

export interface Delivery {
  readonly messageId: string
  /** 1 at the first try. */
  readonly receives: number
}

const WAIT_SECONDS = 20
const BATCH = 10
const POLL_FAILED_MS = 500
/** After messages came the next poll waits a moment: the handlers begin first, and what comes meanwhile comes as one batch. */
const BETWEEN_POLLS_MS = 2
const doubling = (receives: number): number => Math.min(60, 2 ** (receives - 1))

/**
 * Polls a queue as Lambda's event source mapping does, until the signal aborts. Resolves once the handlers that run then have ended. Messages whose handler fails
 * come back after 1, 2, 4 … seconds, and go to the dead-letter queue after their last receive.
 */
export async function consumeQueue<Q extends QueueName>(options: ConsumerOptions<Q>): Promise<void> {
  const { client, queueUrl, concurrency, signal, onError, visibilitySeconds = 30 } = options
  const running = new Set<Promise<void>>()
  let wake = (): void => undefined
  signal.addEventListener('abort', () => wake(), { once: true })
  /** Until a handler ends, the loop is stopped, or the time is over. */
  const pause = async (maxMs: number | null): Promise<void> => {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      wake = resolve
      if (maxMs !== null) timer = setTimeout(resolve, maxMs)
    })
    clearTimeout(timer)
  }

  while (!signal.aborted) {
    if (running.size >= concurrency) {
      await pause(null)
      continue
    }
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: Math.min(BATCH, concurrency - running.size),
          WaitTimeSeconds: WAIT_SECONDS,
          VisibilityTimeout: visibilitySeconds,
          MessageSystemAttributeNames: ['ApproximateReceiveCount'],
          MessageAttributeNames: [TRACE_ATTRIBUTE],
        }),
        { abortSignal: signal },
      )
      for (const message of Messages) {
        const parent = parseTraceparent(message.MessageAttributes?.[TRACE_ATTRIBUTE]?.StringValue)
        const work = inTrace(parent, () => handleMessage(options, message, visibilitySeconds)).finally(() => {
          running.delete(work)
          wake()
        })
        running.add(work)
      }
      if (Messages.length > 0 && !signal.aborted) await pause(BETWEEN_POLLS_MS)
    } catch (error) {
      if (signal.aborted) break
      onError(error, null)
      await pause(POLL_FAILED_MS)
    }
  }
  await Promise.all(running)
}

/** Never rejects. */
async function handleMessage<Q extends QueueName>(options: ConsumerOptions<Q>, message: Message, visibilitySeconds: number): Promise<void> {
  const { client, queue, queueUrl, handler, onError, backOffSeconds = doubling } = options
  const { Body = '', ReceiptHandle = '', MessageId = '' } = message
  const delivery: Delivery = { messageId: MessageId, receives: Number(message.Attributes?.ApproximateReceiveCount ?? 1) }
  const hideFor = (seconds: number) =>
    client.send(new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: seconds }))
  const heartbeat = setInterval(
    () => void hideFor(visibilitySeconds).catch((error: unknown) => onError(error, delivery)),
    (visibilitySeconds * 1000) / 3,
  )
  try {
    await handler(parseMessage(queue, Body), delivery)
    clearInterval(heartbeat)
    await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }))
  } catch (error) {
    clearInterval(heartbeat)
    onError(error, delivery)
    await hideFor(backOffSeconds(delivery.receives)).catch((failure: unknown) => onError(failure, delivery))
  }
}
