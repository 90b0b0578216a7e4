import { GetQueueAttributesCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { QueueName } from '../../../model/messages.ts'
import type { Queue } from '../../../ports/queue.ts'
import { currentTraceparent } from '../../../model/trace.ts'

/** The message attribute with the trace. */
export const TRACE_ATTRIBUTE = 'traceparent'

/** Sends to standard queues. `MessageGroupId` makes them fair: one tenant's backlog does not delay another's. */
export function createSqsQueue(options: { readonly client: SQSClient; readonly queueUrls: Readonly<Record<QueueName, string>> }): Queue {
  const { client, queueUrls } = options
  return {
    async send(queue, message, { group, delaySeconds }) {
      const traceparent = currentTraceparent()
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrls[queue],
          MessageBody: JSON.stringify(message),
          MessageGroupId: group,
          ...(traceparent === null ? {} : { MessageAttributes: { [TRACE_ATTRIBUTE]: { DataType: 'String', StringValue: traceparent } } }),
          ...(delaySeconds === undefined || delaySeconds === 0 ? {} : { DelaySeconds: Math.min(900, Math.ceil(delaySeconds)) }),
        }),
      )
    },
    async check() {
      const urls = Object.values(queueUrls)
      await Promise.all(urls.map((QueueUrl) => client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))))
    },
  }
}
