import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { inTrace } from '../core/trace.ts'

/** Reads a dead-letter queue. Its bodies may be anything, so the handler gets the text; what it rejects stays and is read again later. */
export async function consumeDeadLetters(options: {
  readonly client: SQSClient
  readonly queueUrl: string
  readonly handler: (body: string) => Promise<void>
  readonly signal: AbortSignal
  readonly onError: (error: unknown, delivery: null) => void
}): Promise<void> {
  const { client, queueUrl, handler, signal, onError } = options
  while (!signal.aborted) {
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20, VisibilityTimeout: 30 }),
        { abortSignal: signal },
      )
      for (const message of Messages) {
        // The row that it names says whose work it was.
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
