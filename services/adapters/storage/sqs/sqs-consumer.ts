import type { SQSClient } from '@aws-sdk/client-sqs'
import type { QueueName } from '../../../model/messages.ts'
import type { QueueConsumer } from '../../../ports/queue.ts'
import { consumeQueue } from './consumer.ts'
import { consumeDeadLetters } from './dead-letter-consumer.ts'

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
