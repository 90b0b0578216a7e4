import * as z from 'zod'
import { boundedList, boundedRecord, openObject } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { InputFile, OutputFile } from '../schema.ts'

const MAX_TOOLS = 100
const MAX_ARGUMENTS = 1_000
const Tool = lazySchema(() => openObject({ name: z.string().min(1).max(256) }))

export const ToolResult = lazySchema(() =>
  openObject({
    call_id: z.string().max(100),
    result: z.unknown(),
    is_error: z.boolean().nullish(),
    error_message: z.string().nullish(),
  }),
)
export type ToolResult = Described<typeof ToolResult>

/** Either the start of a program (`code`, `tools`) or its continuation (`continuation_token`, `tool_results`). */
export const ProgramBody = lazySchema(() =>
  openObject({
    code: z.string().min(1).optional(),
    tools: boundedList(Tool(), { min: 1, max: MAX_TOOLS })
      .optional()
      .openapi({ type: 'array', items: { type: 'object' }, maxItems: MAX_TOOLS }),
    lang: z.string().max(32).optional().openapi({ description: '`python`, which is the default, or `bash`.' }),
    language: z.string().max(32).optional(),
    timeout: z.number().positive().optional().openapi({ description: 'Milliseconds, for each run of the program.' }),
    runtime_session_hint: z.string().min(1).max(200).optional(),
    files: boundedList(InputFile(), { max: 100 }).optional(),
    continuation_token: z.string().max(300).optional(),
    tool_results: boundedList(ToolResult(), { min: 1, max: MAX_TOOLS })
      .optional()
      .openapi({ type: 'array', items: { type: 'object' }, maxItems: MAX_TOOLS }),
  }).openapi('LibreChatProgram'),
)
export type ProgramBody = Described<typeof ProgramBody>

/** A call of a tool, as the program made it. */
export const ToolCall = lazySchema(() =>
  z.object({
    id: z.string().regex(/^call_[0-9a-f]{24}_\d{1,6}$/),
    name: z.string().max(256),
    input: boundedRecord(z.string(), z.unknown(), MAX_ARGUMENTS),
  }),
)
export type ToolCall = Described<typeof ToolCall>
/** What a run of a program reports: hostile, because its code wrote it. */
export const ReportedCalls = lazySchema(() => boundedList(ToolCall(), { min: 1, max: MAX_TOOLS }))

export const ProgramResult = answerSchema(() =>
  z
    .looseObject({
      status: z.enum(['tool_call_required', 'completed', 'error']),
      session_id: z.string(),
      continuation_token: z.string().optional(),
      tool_calls: z.array(ToolCall()).optional(),
      partial_stdout: z.string().optional(),
      partial_stderr: z.string().optional(),
      stdout: z.string().optional(),
      stderr: z.string().optional(),
      error: z.string().optional(),
      files: z.array(OutputFile()).optional(),
      deleted_files: z.array(z.string()).optional(),
      tool_calls_made: z.int().optional(),
      execution_time: z.number().optional().openapi({ description: 'Milliseconds.' }),
    })
    .openapi('LibreChatProgramResult'),
)

export const CancelBody = lazySchema(() => openObject({ request_id: z.string().min(1).max(100) }).openapi('LibreChatCancel'))
export type CancelBody = Described<typeof CancelBody>
