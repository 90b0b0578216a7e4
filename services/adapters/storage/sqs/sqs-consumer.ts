import { type SQSClient, DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import type { QueueName } from '../../../model/messages.ts'
import type { QueueConsumer, DeadLetterOptions } from '../../../ports/queue.ts'
import { consumeQueue } from './consumer.ts'
import { inTrace } from '../../../model/trace.ts'

/** Polls SQS as Lambda's event source mappings do. */
export function createSqsConsumer({
  client,
  queueUrls,
  deadLetterUrls,
}: {
  readonly client: SQSClient
  readonly queueUrls: Readonly<Record<QueueName, string>>
  readonly deadLetterUrls: Readonly<Record<QueueName, string>>
}): QueueConsumer {
  return {
    consume: (queue, options) => consumeQueue({ ...options, client, queue, queueUrl: queueUrls[queue] }),
    consumeDeadLetters: (queue, options) => consumeDeadLetters({ ...options, client, queueUrl: deadLetterUrls[queue] }),
  }
}

/** Polls a dead-letter queue. A message whose handler fails stays and is received again after its visibility timeout. */
async function consumeDeadLetters(options: DeadLetterOptions & { readonly client: SQSClient; readonly queueUrl: string }): Promise<void> {
  const { client, queueUrl, handler, signal, onError } = options
  while (!signal.aborted) {
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20, VisibilityTimeout: 30 }),
        { abortSignal: signal },
      )
      for (const message of Messages) {
        // The handler joins the trace of the row that the message names.
        await inTrace(null, () => handler(message.Body ?? ''))
        await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }))
      }
    } catch (error) {
      if (signal.aborted) return
      onError(error, null)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
}
