import { MAX_RECEIVES, QUEUES, type QueueName } from '../../core/messages.ts'

export interface QueueDefinition {
  readonly name: string
  readonly deadLetterName: string
  /** How long a received message is hidden when its worker says nothing: at least the timeout of the function that takes it. */
  readonly visibilityTimeoutSeconds: number
  readonly maxReceiveCount: number
}

/** The queues, as data: the local server and the deployment both make them from this. Retries come from leases, so nothing waits for the visibility. */
export const queueDefinitions = Object.fromEntries(
  QUEUES.map((name) => [name, { name, deadLetterName: `${name}-dead`, visibilityTimeoutSeconds: 900, maxReceiveCount: MAX_RECEIVES }]),
) as Readonly<Record<QueueName, QueueDefinition>>
