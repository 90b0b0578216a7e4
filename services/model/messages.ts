import * as z from 'zod'
import type { Container } from './containers/container.ts'
import { JOB_NAMES, type JobName } from './due-names.ts'

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
/** Send webhook deliveries: all of an event at first, one when it is repeated. It shares the queue of turns, whose worker may reach the internet. */
export const WebhookMessage = z.object({
  ...ids,
  type: z.literal('webhook.deliver'),
  deliveries: z.array(z.object({ id: z.string(), endpointId: z.string() })),
})
export const ExecutionStepMessage = z.object({
  ...ids,
  type: z.literal('execution.step'),
  executionId: z.string(),
  containerId: z.string(),
  /** The container's row as written when this execution became its head, and the time of that write (epoch ms). */
  seen: z.object({ at: z.number(), container: z.custom<Container>((row) => (row as Container | null)?.v === 1) }).optional(),
})
/**
 * Save the variables of a container that is unused since `idleSince` (its `lastActiveAt`) and release its sandbox. With `sandboxId`, however short it has
 * been unused: the platform takes this sandbox away. `isForCopy`: for copies of the container, which continues; its sandbox is suspended where the platform
 * keeps processes, and otherwise runs on. `endsProcesses`: it hibernates even where the platform keeps processes.
 */
export const HibernateMessage = z.object({
  ...ids,
  type: z.literal('container.hibernate'),
  containerId: z.string(),
  idleSince: z.number(),
  sandboxId: z.string().optional(),
  isForCopy: z.boolean().optional(),
  endsProcesses: z.boolean().optional(),
})
export const PlacementMessage = z.discriminatedUnion('type', [
  z.object({ v: z.literal(1), type: z.literal('sandbox.refill') }),
  /** Compare every sandbox with the platform, between two passes of the reconciler. */
  z.object({ v: z.literal(1), type: z.literal('sandbox.check') }),
  /** Start the sandbox of this row for a waiting container; enqueue the execution when the sandbox is ready. */
  z.object({ ...ids, type: z.literal('sandbox.place'), sandboxId: z.string(), containerId: z.string(), executionId: z.string() }),
  /** Start the sandbox of this row, which starts for the warm pool. */
  z.object({ v: z.literal(1), type: z.literal('sandbox.start'), sandboxId: z.string() }),
  /** Write the processes of the sandbox of this row, which is `suspending`, to its checkpoint. */
  z.object({ v: z.literal(1), type: z.literal('sandbox.suspend'), sandboxId: z.string() }),
  z.object({ v: z.literal(1), type: z.literal('sandbox.stop'), sandboxId: z.string() }),
])
export type TurnMessage = z.infer<typeof TurnMessage>
export type WebhookMessage = z.infer<typeof WebhookMessage>
export type ExecutionStepMessage = z.infer<typeof ExecutionStepMessage>
export type ContainerSeen = NonNullable<ExecutionStepMessage['seen']>
export type HibernateMessage = z.infer<typeof HibernateMessage>
export type ExecutionMessage = ExecutionStepMessage | HibernateMessage
export type PlacementMessage = z.infer<typeof PlacementMessage>

/** The messages of jobs, by the kind of the row that a worker advances. */
export interface JobMessages extends Record<JobName, { readonly tenant: string }> {
  readonly execution: ExecutionStepMessage
  readonly response: TurnMessage
  readonly delivery: WebhookMessage
  readonly container: HibernateMessage
}

/** How the message of one kind of job is read. `services/workers/reconcile/job-kinds.ts` has what the reconciler does with the kind. */
interface JobMessage<Message> {
  readonly queue: QueueName
  readonly schema: z.ZodType<Message>
  /** The id of the row; of deliveries, their ids with a blank between them. */
  idOf(message: Message): string
}
export const JOB_MESSAGES: { readonly [Name in JobName]: JobMessage<JobMessages[Name]> } = {
  execution: { queue: 'executions', schema: ExecutionStepMessage, idOf: ({ executionId }) => executionId },
  response: { queue: 'turns', schema: TurnMessage, idOf: ({ responseId }) => responseId },
  delivery: { queue: 'turns', schema: WebhookMessage, idOf: ({ deliveries }) => deliveries.map(({ id }) => id).join(' ') },
  container: { queue: 'executions', schema: HibernateMessage, idOf: ({ containerId }) => containerId },
}

/** The messages of each queue. A message is a hint: the rows that it names decide, and every write is conditional on them. */
export interface QueueMessages {
  readonly turns: TurnMessage | WebhookMessage
  readonly executions: ExecutionMessage
  readonly placements: PlacementMessage
}
const jobsOf = (queue: QueueName): z.ZodType =>
  z.union(JOB_NAMES.filter((name) => JOB_MESSAGES[name].queue === queue).map((name): z.ZodType => JOB_MESSAGES[name].schema))
export const MESSAGE_SCHEMAS: Readonly<Record<QueueName, z.ZodType>> = {
  turns: jobsOf('turns'),
  executions: jobsOf('executions'),
  placements: PlacementMessage,
}
