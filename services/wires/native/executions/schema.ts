import { z } from '@hono/zod-openapi'
import { openObject } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { scopeFields } from '../../../http/execution-scope.ts'
import { Metadata, queryInteger } from '../../../http/schemas.ts'
import { EXECUTION_REASONS, EXECUTION_STATUSES } from '../../../model/executions/execution.ts'
import { executionFrameSchemas } from '../../../model/executions/events/event-types.ts'
import { EXECUTION_LANGUAGES } from '../../../model/executions/language.ts'
import { LIMITS } from '../../../model/limits.ts'

export const WaitQuery = lazySchema(() =>
  z.strictObject({
    wait: queryInteger(0, LIMITS.maxWaitSeconds, `Seconds to wait for the end, at most ${LIMITS.maxWaitSeconds}.`).optional(),
    inline: z
      .enum(['all'], 'give all')
      .optional()
      .openapi({
        description: `\`all\` embeds outputs up to ${LIMITS.maxInlineAnswerBytes} bytes, also those that are stored as objects; without it an answer embeds ${LIMITS.inlineAnswerBytes} bytes.`,
      }),
  }),
)

export type WaitQuery = Described<typeof WaitQuery>

/** Exactly one of `code` and `notebook`; the notebook itself is checked on its own, with errors that name the cell. */
export const RunCode = lazySchema(() =>
  z
    .strictObject({
      code: z
        .string()
        .nullish()
        .openapi({ description: `Code, as one notebook cell. At most ${LIMITS.maxCodeBytes} bytes.`, example: 'print(1)' }),
      notebook: openObject({}).nullish().openapi({ description: 'An nbformat 4 document: its code cells run in order.' }),
      language: z
        .enum(EXECUTION_LANGUAGES, `give one of ${EXECUTION_LANGUAGES.join(', ')}`)
        .nullish()
        .openapi({
          description:
            '`python` by default. Each language has a session in the container that keeps its state. JavaScript and TypeScript need the image `standard` or `full`, R needs `full`.',
        }),
      ...scopeFields(),
      timeout_seconds: z
        .int('give whole seconds')
        .min(1, 'give at least 1 second')
        .max(LIMITS.maxTimeoutSeconds, `give at most ${LIMITS.maxTimeoutSeconds} seconds`)
        .nullish()
        .openapi({ description: `Bounds the whole execution, not each cell. ${LIMITS.defaultTimeoutSeconds} by default.` }),
      on_error: z.enum(['stop', 'continue']).nullish().openapi({
        description: 'Whether the later cells of a notebook run after a cell fails: `stop` (the default) skips them, `continue` runs them.',
      }),
      store_history: z
        .boolean()
        .nullish()
        .openapi({ description: 'Whether `In`, `Out` and the execution count continue; true by default.' }),
      metadata: Metadata().nullish(),
    })
    .openapi('RunCode'),
)
export type RunCode = Described<typeof RunCode>

const NbOutput = answerSchema(() =>
  z.looseObject({ output_type: z.enum(['stream', 'display_data', 'execute_result', 'error']) }).openapi('Output', {
    description:
      'An nbformat 4.5 output. A part of a MIME bundle that is too big to be inline is replaced by `cellblock/ref: {url, bytes, mime, preview?}`.',
  }),
)

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

export const Execution = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'exec_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('execution'),
      container_id: z.string(),
      v: z.literal(1),
      language: z.enum(EXECUTION_LANGUAGES),
      status: z.enum(EXECUTION_STATUSES),
      reason: z.enum(EXECUTION_REASONS).nullable(),
      created_at: time(),
      started_at: time().nullable(),
      ended_at: time().nullable(),
      queue_position: z.int().optional().openapi({
        description:
          'Number of executions that run before this one: of its container, and of the account while it is at its concurrency limit. Absent unless the execution is queued.',
      }),
      expected_start_at: z.string().optional().openapi({
        description: "An estimate from the average duration of the account's executions. Absent unless the execution is queued.",
      }),
      outputs: z.array(NbOutput()).optional().openapi({ description: 'Outputs of plain code.' }),
      cells: z
        .array(
          z.object({
            index: z.int(),
            execution_count: z.int().nullable(),
            status: z.enum(['ok', 'error', 'aborted']),
            outputs: z.array(NbOutput()),
          }),
        )
        .optional()
        .openapi({ description: 'Outputs of a notebook, by the position of the cell in it.' }),
      stdout: z.string().openapi({ description: 'The output so far while the execution runs.' }),
      stderr: z.string(),
      error: z.object({ name: z.string(), value: z.string(), traceback: z.array(z.string()) }).nullable(),
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
      usage: ExecutionUsage().nullable().openapi({ description: 'Null until it has ended.' }),
      metadata: z.record(z.string(), z.string()),
    })
    .openapi('Execution'),
)

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
