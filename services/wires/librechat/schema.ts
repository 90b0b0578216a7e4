import * as z from 'zod'
import { boundedList, openObject } from '../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../model/lazy-schema.ts'

/** A file that an execution may read. Older clients write `session_id`. */
export const InputFile = lazySchema(() =>
  openObject({
    id: z.string().max(200),
    name: z.string().min(1).max(1_024),
    storage_session_id: z.string().max(200).optional(),
    session_id: z.string().max(200).optional(),
  }),
)
export type InputFile = Described<typeof InputFile>

export const ExecBody = lazySchema(() =>
  openObject({
    lang: z.string().min(1).max(32).openapi({ example: 'py' }),
    code: z.string(),
    args: boundedList(z.string(), { max: 100 }).optional(),
    timeout: z.number().positive().optional().openapi({ description: 'Milliseconds.' }),
    runtime_session_hint: z.string().min(1).max(200).optional().openapi({ description: 'Calls with the same hint share one container.' }),
    files: boundedList(InputFile(), { max: 100 }).optional(),
  }).openapi('LibreChatExec'),
)
export type ExecBody = Described<typeof ExecBody>

export const OutputFile = answerSchema(() =>
  z.looseObject({
    id: z.string(),
    name: z.string(),
    storage_session_id: z.string(),
    inherited: z.literal(true).optional(),
    modified_from: z.object({ id: z.string(), storage_session_id: z.string() }).optional(),
  }),
)
export type OutputFile = Described<typeof OutputFile>

export const ExecResult = answerSchema(() =>
  z
    .looseObject({
      session_id: z.string(),
      stdout: z.string(),
      stderr: z.string(),
      code: z.int().nullable(),
      signal: z.string().nullable(),
      message: z.string().nullable(),
      status: z.string(),
      wall_time: z.number().openapi({ description: 'Milliseconds.' }),
      files: z.array(OutputFile()),
      deleted_files: z.array(z.string()).optional(),
      artifact_delivery: z
        .object({ code: z.string(), status: z.enum(['partial', 'failed']), attempted: z.int(), delivered: z.int(), failed: z.int() })
        .optional()
        .openapi({ description: 'Files that could not be kept; `stderr` names them.' }),
      runtime_session_id: z.string().optional(),
      runtime_status: z.enum(['new', 'reused']).optional(),
    })
    .openapi('LibreChatExecResult'),
)

export const UploadResult = answerSchema(() =>
  z.looseObject({
    message: z.string(),
    storage_session_id: z.string(),
    session_id: z.string(),
    files: z.array(z.looseObject({ filename: z.string() })),
  }),
)
