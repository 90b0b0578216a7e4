import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'

/** Requests per call, so that a flood of dead letters leaves time for the rest of an invocation; the next call continues. */
const MAX_REQUESTS = 20
const PER_REQUEST = 10

interface ReceivedMessage {
  readonly messageId: string
  readonly body: string
}

/** The dead-letter queue of a queue, as `queueDefinitions` names it. */
export const deadLetterUrl = (queueUrl: string): string => `${queueUrl}-dead`

/**
 * Hands the messages that wait in a queue to `handle`, ten at most at a time, and deletes those that it does not name as failed. A failed one is received
 * again after its visibility time-out. It does not wait for messages: an empty queue costs one request.
 */
export async function drainDeadLetters(
  { client, queueUrl }: { readonly client: SQSClient; readonly queueUrl: string },
  handle: (messages: readonly ReceivedMessage[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  for (let request = 0; request < MAX_REQUESTS; request++) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: PER_REQUEST, WaitTimeSeconds: 0 }),
    )
    if (Messages.length === 0) return
    const failed = await handle(Messages.map(({ MessageId = '', Body = '' }) => ({ messageId: MessageId, body: Body })))
    for (const { MessageId = '', ReceiptHandle } of Messages)
      if (!failed.has(MessageId)) await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }))
  }
}
