import type { QueueMessages, QueueName } from '../../core/messages.ts'
import { inTrace, parseTraceparent } from '../../core/trace.ts'
import { parseMessage } from './parse-message.ts'
import { TRACE_ATTRIBUTE } from './sqs-queue.ts'

/** The part of Lambda's SQS event that we read. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[]
}
export interface SqsRecord {
  readonly messageId: string
  readonly body: string
  readonly messageAttributes?: Readonly<Record<string, { readonly stringValue?: string }>>
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
      Records.map((record) =>
        inTraceOf(record, async ({ messageId, body }) => {
          try {
            await step(parseMessage(queue, body))
            return null
          } catch (error) {
            onError(error, messageId)
            return { itemIdentifier: messageId }
          }
        }),
      ),
    )
    return { batchItemFailures: outcomes.filter((failure) => failure !== null) }
  }
}

/** Works on a message as part of what sent it. */
export const inTraceOf = <R extends Pick<SqsRecord, 'messageAttributes'>, T>(record: R, work: (record: R) => T): T =>
  inTrace(parseTraceparent(record.messageAttributes?.[TRACE_ATTRIBUTE]?.stringValue), () => work(record))
