import { MAX_RECEIVES, QUEUES, type QueueName } from '../services/core/messages.ts'

export interface QueueDefinition {
  readonly name: string
  readonly deadLetterName: string
  readonly visibilityTimeoutSeconds: number
  readonly maxReceiveCount: number
}
export const queueDefinitions = Object.fromEntries(
  QUEUES.map((name) => [name, { name, deadLetterName: `${name}-dead`, visibilityTimeoutSeconds: 900, maxReceiveCount: MAX_RECEIVES }]),
) as Record<QueueName, QueueDefinition>
