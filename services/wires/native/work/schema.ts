import * as z from 'zod'
import { answerSchema, lazySchema } from '../../../model/lazy-schema.ts'
import { Metadata, queryInteger } from '../../../http/schemas.ts'
import { executionFrameSchemas } from '../../../model/executions/events/event-types.ts'
import { EXECUTION_REASONS, EXECUTION_STATUSES } from '../../../model/executions/execution.ts'
import type { WorkKindName } from '../../../model/executions/work-kinds.ts'
import { LIMITS } from '../../../model/limits.ts'

/** The query field `wait` of routes that may wait for the end. */
export const waitField = lazySchema(() =>
  queryInteger(0, LIMITS.maxWaitSeconds, `Seconds to wait for the end, at most ${LIMITS.maxWaitSeconds}.`).optional(),
)

/** Request fields that every kind of work has. */
export const requestFields = (timeoutDescription: string) => ({
  timeout_seconds: z
    .int('give whole seconds')
    .min(1, 'give at least 1 second')
    .max(LIMITS.maxTimeoutSeconds, `give at most ${LIMITS.maxTimeoutSeconds} seconds`)
    .nullish()
    .openapi({ description: timeoutDescription }),
  metadata: Metadata().nullish(),
})

export const ExecutionFile = lazySchema(() =>
  z
    .object({
      id: z.string(),
      path: z.string().openapi({ example: '/mnt/data/plot.png' }),
      bytes: z.int(),
      sha256: z.string(),
      mime: z.string(),
      url: z
        .string()
        .nullable()
        .openapi({
          description: `Works without a key for ${LIMITS.presignedSeconds} seconds; null once the file was deleted, and for a key without the scope "files".`,
        }),
      is_new: z.boolean(),
      modified_from: z.string().optional().openapi({ description: 'Id of the previous version.' }),
    })
    .openapi('ExecutionFile'),
)

const time = lazySchema(() => z.string().openapi({ format: 'date-time' }))

/** The usage of an execution or a command. */
export const ExecutionUsage = lazySchema(() =>
  z.object({
    queue_ms: z.number(),
    start_ms: z.number(),
    run_ms: z.number(),
    cpu_ms: z.number(),
    peak_memory_bytes: z.int(),
    output_bytes: z.int(),
    sandbox_seconds: z.number(),
    cost_usd: z.number(),
  }),
)

/** Requests over the network while it ran. */
export const ExecutionNetwork = lazySchema(() =>
  z
    .object({
      requests: z.int().openapi({ description: 'Those that the log has; `lost` says when there were more.' }),
      refused: z.int().openapi({ description: 'Each refused host is in `lost` with the reason.' }),
      bytes: z.int().openapi({ description: 'In both directions.' }),
    })
    .openapi({ description: 'Requests of the container while it ran, programs in the background included; absent without a request.' }),
)

/** The first fields of an answer, of any kind of work. */
export const headFields = <Kind extends WorkKindName>(kind: Kind, example: string) => ({
  id: z.string().openapi({ example }),
  object: z.literal(kind),
  container_id: z.string(),
  v: z.literal(1),
  status: z.enum(EXECUTION_STATUSES),
  reason: z.enum(EXECUTION_REASONS).nullable(),
  created_at: time(),
  started_at: time().nullable(),
  ended_at: time().nullable(),
})

/** The last fields. */
export const tailFields = answerSchema(() => ({
  files: z.array(ExecutionFile()),
  lost: z
    .array(z.object({ what: z.string(), reason: z.string() }))
    .openapi({ description: 'Expected parts of the result that are missing, with the reason.' }),
  omitted: z
    .array(
      z.object({
        what: z.string(),
        bytes: z.int(),
        url: z.string().openapi({ description: 'The address of the part; it needs the API key.' }),
      }),
    )
    .optional()
    .openapi({
      description: 'Parts that the answer omits because of their size. They are stored; of a long text the answer has the start.',
    }),
  network: ExecutionNetwork().optional(),
  usage: ExecutionUsage().nullable().openapi({ description: 'Null until it has ended.' }),
  metadata: z.record(z.string(), z.string()),
}))

/** The `data` of the events of an execution; the field `event` of each says which form it has. */
export const ExecutionEvent = lazySchema(() =>
  z
    .object(
      Object.fromEntries(
        Object.entries(executionFrameSchemas(ExecutionFile())).map(([name, schema]) => [
          name,
          schema.optional().openapi({ description: `\`data\` of \`event: ${name}\`.` }),
        ]),
      ),
    )
    .openapi('ExecutionEvent', {
      description: 'The `data` of server-sent events, by the name in `event`. Each event has exactly one of these forms.',
    }),
)
