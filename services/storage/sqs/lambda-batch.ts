import type { QueueMessages, QueueName } from '../../core/messages.ts'
import { parseMessage } from './parse-message.ts'

/** The part of Lambda's SQS event that we read. */
export interface SqsEvent {
  readonly Records: readonly { readonly messageId: string; readonly body: string }[]
}
export interface SqsBatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

/** A Lambda handler for one queue: messages of a batch stand alone, and only those that failed come back. */
export function createBatchHandler<Q extends QueueName>(
  queue: Q,
  step: (message: QueueMessages[Q]) => Promise<void>,
  onError: (error: unknown, messageId: string) => void,
): (event: SqsEvent) => Promise<SqsBatchAnswer> {
  return async ({ Records }) => {
    const outcomes = await Promise.all(
      Records.map(async ({ messageId, body }) => {
        try {
          await step(parseMessage(queue, body))
          return null
        } catch (error) {
          onError(error, messageId)
          return { itemIdentifier: messageId }
        }
      }),
    )
    return { batchItemFailures: outcomes.filter((failure) => failure !== null) }
  }
}
