import { z } from 'zod'
import type { Container } from './containers/container.ts'

/** The queues. Each has a dead-letter queue named `<queue>-dead`. */
export const QUEUES = ['turns', 'executions', 'placements'] as const
export type QueueName = (typeof QUEUES)[number]
/** A message that failed this many times is moved to the dead-letter queue. */
export const MAX_RECEIVES = 5

const ids = { v: z.literal(1), tenant: z.string() }

export const TurnMessage = z.object({
  ...ids,
  type: z.literal('response.step'),
  responseId: z.string(),
  /** For a turn that waits for its predecessor: the message is valid only while the row has this fencing token, so repetitions do not multiply. */
  againAt: z.number().int().optional(),
})
/** Send one webhook delivery. It shares the queue of turns, whose worker may reach the internet. */
export const WebhookMessage = z.object({ ...ids, type: z.literal('webhook.deliver'), deliveryId: z.string() })
export const ExecutionMessage = z.discriminatedUnion('type', [
  z.object({
    ...ids,
    type: z.literal('execution.step'),
    executionId: z.string(),
    containerId: z.string(),
    /** The container's row as written when this execution became its head, and the time of that write (epoch ms). */
    seen: z.object({ at: z.number(), container: z.custom<Container>((row) => (row as Container | null)?.v === 1) }).optional(),
  }),
  /** Save the variables of a container that is unused since `idleSince` (its `lastActiveAt`) and release its sandbox. */
  z.object({ ...ids, type: z.literal('container.hibernate'), containerId: z.string(), idleSince: z.number() }),
])
export const PlacementMessage = z.discriminatedUnion('type', [
  z.object({ v: z.literal(1), type: z.literal('sandbox.refill') }),
  /** Compare every sandbox with the platform, between two passes of the reconciler. */
  z.object({ v: z.literal(1), type: z.literal('sandbox.check') }),
  /** Start the sandbox of this row for a waiting container; enqueue the execution when the sandbox is ready. */
  z.object({ ...ids, type: z.literal('sandbox.place'), sandboxId: z.string(), containerId: z.string(), executionId: z.string() }),
  /** Start the sandbox of this row, which starts for the warm pool. */
  z.object({ v: z.literal(1), type: z.literal('sandbox.start'), sandboxId: z.string() }),
  z.object({ v: z.literal(1), type: z.literal('sandbox.stop'), sandboxId: z.string() }),
])
export type TurnMessage = z.infer<typeof TurnMessage>
export type WebhookMessage = z.infer<typeof WebhookMessage>
export type ExecutionMessage = z.infer<typeof ExecutionMessage>
export type ExecutionStepMessage = Extract<ExecutionMessage, { type: 'execution.step' }>
export type ContainerSeen = NonNullable<ExecutionStepMessage['seen']>
export type HibernateMessage = Extract<ExecutionMessage, { type: 'container.hibernate' }>
export type PlacementMessage = z.infer<typeof PlacementMessage>

/** The messages of each queue. A message is a hint: the rows that it names decide, and every write is conditional on them. */
export interface QueueMessages {
  readonly turns: TurnMessage | WebhookMessage
  readonly executions: ExecutionMessage
  readonly placements: PlacementMessage
}
export const MESSAGE_SCHEMAS = {
  turns: z.discriminatedUnion('type', [TurnMessage, WebhookMessage]),
  executions: ExecutionMessage,
  placements: PlacementMessage,
} as const
