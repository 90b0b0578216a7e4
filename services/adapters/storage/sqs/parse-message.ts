import { MESSAGE_SCHEMAS, type QueueMessages, type QueueName } from '../../../model/messages.ts'

/** A message body as its queue's type. Throws when it is not JSON, or has another shape or an unknown version; such a message ends in the dead-letter queue. */
export function parseMessage<Q extends QueueName>(queue: Q, body: string): QueueMessages[Q] {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (cause) {
    throw new Error(`A message in the queue "${queue}" is not JSON.`, { cause })
  }
  const parsed = MESSAGE_SCHEMAS[queue].safeParse(value)
  if (!parsed.success) throw new Error(`A message in the queue "${queue}" has an unknown shape or version.`, { cause: parsed.error })
  return parsed.data as QueueMessages[Q]
}
