import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { QueueName } from '../../../model/messages.ts'
import type { ConsumeOptions, Delivery } from '../../../ports/queue.ts'
import { inTrace, parseTraceparent } from '../../../model/trace.ts'
import { redeliveryDelay } from '../redelivery-delay.ts'
import { parseMessage } from './parse-message.ts'
import { TRACE_ATTRIBUTE } from './sqs-queue.ts'

export interface ConsumerOptions<Q extends QueueName> extends ConsumeOptions<Q> {
  readonly client: SQSClient
  readonly queue: Q
  readonly queueUrl: string
  /** Visibility timeout of a received message, renewed while its handler runs, seconds. */
  readonly visibilitySeconds?: number
}

const WAIT_SECONDS = 20
const BATCH = 10
const POLL_FAILED_MS = 500
/** Pause after a poll that returned messages, so that handlers start first and arriving messages form one batch. */
const BETWEEN_POLLS_MS = 2

/** Polls a queue as Lambda's event source mapping does, until the signal aborts. SQS moves a message to the dead-letter queue after its last receive. */
export async function consumeQueue<Q extends QueueName>(options: ConsumerOptions<Q>): Promise<void> {
  const { client, queueUrl, concurrency, signal, onError, visibilitySeconds = 30 } = options
  const running = new Set<Promise<void>>()
  let wake = (): void => undefined
  signal.addEventListener('abort', () => wake(), { once: true })
  /** Resolves when a handler ends, the signal aborts, or the time is over. */
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
  const { client, queue, queueUrl, handler, onError, backOffSeconds = redeliveryDelay } = options
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
