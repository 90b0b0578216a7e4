import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { DeadLetterOptions } from '../../../ports/queue.ts'
import { inTrace } from '../../../model/trace.ts'

/** Polls a dead-letter queue. A message whose handler fails stays and is received again after its visibility timeout. */
export async function consumeDeadLetters(
  options: DeadLetterOptions & { readonly client: SQSClient; readonly queueUrl: string },
): Promise<void> {
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
