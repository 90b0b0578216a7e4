import { z } from 'zod'
import type { Container } from './containers/container.ts'

/** The queues. Each has a dead-letter queue named `<queue>-dead`. */
export const QUEUES = ['turns', 'executions', 'placements'] as const
export type QueueName = (typeof QUEUES)[number]
/** A message that was received this often without success goes to the dead-letter queue. */
export const MAX_RECEIVES = 5

const ids = { v: z.literal(1), tenant: z.string() }

export const TurnMessage = z.object({
  ...ids,
  type: z.literal('response.step'),
  responseId: z.string(),
  /** Looks again while the turn before it runs: good only while the row still has this fence, so that two such messages never become four. */
  againAt: z.number().int().optional(),
})
export const ExecutionMessage = z.discriminatedUnion('type', [
  z.object({
    ...ids,
    type: z.literal('execution.step'),
    executionId: z.string(),
    containerId: z.string(),
    /** The container as the write left it that brought this execution to its head, and when that was (epoch ms). */
    seen: z.object({ at: z.number(), container: z.custom<Container>((row) => (row as Container | null)?.v === 1) }).optional(),
  }),
  /** Save the variables of a container that nobody used since `idleSince` (its `lastActiveAt`) and let its sandbox go. */
  z.object({ ...ids, type: z.literal('container.hibernate'), containerId: z.string(), idleSince: z.number() }),
])
export const PlacementMessage = z.discriminatedUnion('type', [
  z.object({ v: z.literal(1), type: z.literal('sandbox.refill') }),
  /** Start the sandbox of this row, which a container waits for; nudge the execution when it is ready. */
  z.object({ ...ids, type: z.literal('sandbox.place'), sandboxId: z.string(), containerId: z.string(), executionId: z.string() }),
  z.object({ v: z.literal(1), type: z.literal('sandbox.stop'), sandboxId: z.string() }),
])
export type TurnMessage = z.infer<typeof TurnMessage>
export type ExecutionMessage = z.infer<typeof ExecutionMessage>
export type ExecutionStepMessage = Extract<ExecutionMessage, { type: 'execution.step' }>
export type ContainerSeen = NonNullable<ExecutionStepMessage['seen']>
export type HibernateMessage = Extract<ExecutionMessage, { type: 'container.hibernate' }>
export type PlacementMessage = z.infer<typeof PlacementMessage>

/** What may be in each queue. A message is a nudge: the rows it names say what is to be done, and every write asks them again. */
export interface QueueMessages {
  readonly turns: TurnMessage
  readonly executions: ExecutionMessage
  readonly placements: PlacementMessage
}
export const MESSAGE_SCHEMAS = { turns: TurnMessage, executions: ExecutionMessage, placements: PlacementMessage } as const
