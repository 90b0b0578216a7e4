import type { QueueMessages, QueueName } from '../../../model/messages.ts'
import { inTrace, parseTraceparent } from '../../../model/trace.ts'
import { parseMessage } from './parse-message.ts'
import { TRACE_ATTRIBUTE } from './sqs-queue.ts'

/** The fields of Lambda's SQS event that are read. */
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

/** A Lambda handler for one queue. Messages of a batch are independent, and only failed ones are redelivered. */
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

/** Handles a message in the trace of its sender. */
export const inTraceOf = <R extends Pick<SqsRecord, 'messageAttributes'>, T>(record: R, work: (record: R) => T): T =>
  inTrace(parseTraceparent(record.messageAttributes?.[TRACE_ATTRIBUTE]?.stringValue), () => work(record))
