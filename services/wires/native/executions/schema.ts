import * as z from 'zod'
import { openObject } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { scopeFields } from '../../../http/execution-scope.ts'
import { outputSchema } from '../../../model/executions/event-schema.ts'
import { EXECUTION_LANGUAGES } from '../../../model/executions/language.ts'
import { LIMITS } from '../../../model/limits.ts'
import { headFields, requestFields, tailFields, waitField } from '../work/schema.ts'

export const WaitQuery = lazySchema(() =>
  z.strictObject({
    wait: waitField(),
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
      ...requestFields(`Bounds the whole execution, not each cell. ${LIMITS.defaultTimeoutSeconds} by default.`),
      on_error: z.enum(['stop', 'continue']).nullish().openapi({
        description: 'Whether the later cells of a notebook run after a cell fails: `stop` (the default) skips them, `continue` runs them.',
      }),
      store_history: z
        .boolean()
        .nullish()
        .openapi({ description: 'Whether `In`, `Out` and the execution count continue; true by default.' }),
    })
    .openapi('RunCode'),
)
export type RunCode = Described<typeof RunCode>

const NbOutput = answerSchema(() =>
  // The model's schema may be older than the method `openapi`, which later instances have.
  outputSchema.clone().openapi('Output', {
    description:
      'An nbformat 4.5 output. A part of a MIME bundle that is too big to be inline is replaced by `cellblock/ref: {url, bytes, mime, preview?}`.',
  }),
)

export const Execution = answerSchema(() =>
  z
    .object({
      ...headFields('execution', 'exec_01kajv9h2s8p0ww3d4dq4cs1zt'),
      language: z.enum(EXECUTION_LANGUAGES),
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
      ...tailFields(),
    })
    .openapi('Execution'),
)
