import { MAX_RECEIVES, QUEUES, type QueueName } from '../../../model/messages.ts'

export interface QueueDefinition {
  readonly name: string
  readonly deadLetterName: string
  /** Visibility timeout of a received message: at least the timeout of its function. */
  readonly visibilityTimeoutSeconds: number
  readonly maxReceiveCount: number
}

/** The queues as data, for the local server and the deployment. Retries follow from leases, so no retry waits for the visibility timeout. */
export const queueDefinitions = Object.fromEntries(
  QUEUES.map((name) => [name, { name, deadLetterName: `${name}-dead`, visibilityTimeoutSeconds: 900, maxReceiveCount: MAX_RECEIVES }]),
) as Readonly<Record<QueueName, QueueDefinition>>
