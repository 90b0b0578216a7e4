import * as z from 'zod'
import { boundedList, boundedRecord, openObject } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { Metadata } from '../../../http/schemas.ts'
import { CacheRetention, ModelName, SafetyIdentifier, ServiceTier, ToolChoice, Verbosity } from '../turn-fields.ts'

/** Messages of one request, and content parts of one message. */
const MAX_MESSAGES = 20_000
const MAX_PARTS = 1_000
const MAX_STOPS = 100
const MAX_BIASES = 1_024

const Part = lazySchema(() => openObject({ type: z.string('give the type of the content part, for example "text"') }))
const Content = lazySchema(() =>
  z.union([z.string(), boundedList(Part(), { max: MAX_PARTS })], 'give a string or a list of content parts').nullish(),
)
const ToolCall = lazySchema(() =>
  openObject({
    id: z.string().max(256),
    type: z.string().optional(),
    function: openObject({ name: z.string().max(256), arguments: z.string() }, 'give the name and the arguments of the function'),
  }),
)

const Message = lazySchema(() =>
  openObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool'], 'give "system", "developer", "user", "assistant" or "tool"'),
    content: Content(),
    refusal: z.string().nullish(),
    tool_calls: boundedList(ToolCall(), { max: 128 }).nullish(),
    tool_call_id: z.string().max(256).nullish(),
  }),
)
export type ChatMessage = Described<typeof Message>

const Tool = lazySchema(() =>
  openObject({ type: z.string('give the type of the tool'), function: openObject({ name: z.string() }).optional() }),
)

/** Unknown fields are ignored, because clients may be newer than the server. */
export const CreateChatCompletion = lazySchema(() =>
  z
    .object({
      model: ModelName(),
      messages: boundedList(Message(), { max: MAX_MESSAGES }).refine((messages) => messages.length > 0, 'give at least one message'),
      tools: boundedList(Tool(), { max: 128 }).nullish().openapi({
        description:
          '`function` tools, `code_interpreter` (as in `POST /v1/responses`), and what the operator offers. Without this field the code interpreter is offered; with an empty list, no tool is.',
      }),
      tool_choice: ToolChoice(),
      parallel_tool_calls: z.boolean().nullish(),
      stream: z.boolean().nullish(),
      stream_options: openObject({ include_usage: z.boolean().nullish() }).nullish(),
      response_format: openObject({ type: z.string(), json_schema: openObject({}).nullish() }).nullish(),
      reasoning_effort: z.string().max(32).nullish(),
      verbosity: Verbosity(),
      temperature: z.number().min(0, 'give 0 to 2').max(2, 'give 0 to 2').nullish(),
      top_p: z.number().min(0, 'give 0 to 1').max(1, 'give 0 to 1').nullish(),
      max_tokens: z.int().min(1, 'give at least 1').nullish(),
      max_completion_tokens: z.int().min(1, 'give at least 1').nullish(),
      n: z.int().min(1).max(1, 'give 1: one request has one answer here').nullish(),
      stop: z.union([z.string(), boundedList(z.string(), { max: MAX_STOPS })]).nullish(),
      seed: z.number().nullish(),
      frequency_penalty: z.number().nullish(),
      presence_penalty: z.number().nullish(),
      logit_bias: boundedRecord(z.string(), z.number(), MAX_BIASES).nullish(),
      logprobs: z.boolean().nullish(),
      top_logprobs: z.int().nullish(),
      modalities: boundedList(z.literal('text', 'only "text" is answered here'), { max: 8 }).nullish(),
      audio: z.null('answers have no audio here; leave it out').optional(),
      functions: z.null('use tools: functions is an older form of the same').optional(),
      function_call: z.null('use tool_choice: function_call is an older form of the same').optional(),
      store: z.boolean().nullish(),
      metadata: Metadata().nullish(),
      user: z.string().max(512).nullish(),
      safety_identifier: SafetyIdentifier(),
      prompt_cache_key: z.string().max(512).nullish(),
      prompt_cache_retention: CacheRetention(),
      service_tier: ServiceTier(),
    })
    .openapi('CreateChatCompletion'),
)
export type CreateChatCompletion = Described<typeof CreateChatCompletion>

/** Parameters of the wire that do not reach the model; an answer names those that a request had. */
export const UNSUPPORTED = ['stop', 'seed', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs'] as const

const Usage = answerSchema(() => z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }))
const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter'] as const

const Extension = answerSchema(() =>
  z
    .looseObject({
      container_id: z.string().nullable(),
      files: z.array(z.looseObject({ id: z.string(), path: z.string(), url: z.string() })),
      dropped_parameters: z.array(z.string()),
    })
    .openapi({
      description:
        'The container in which code ran, for the `container` of the next request; the files and images that the code created; and the parameters that had no effect.',
    }),
)

export const ChatCompletion = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'chatcmpl-01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('chat.completion'),
      created: z.int(),
      model: z.string(),
      choices: z.array(
        z.object({
          index: z.literal(0),
          message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable(), refusal: z.string().nullable() }),
          finish_reason: z.enum(FINISH_REASONS),
          logprobs: z.null(),
        }),
      ),
      usage: Usage(),
      service_tier: z.string(),
      x_cellblock: Extension(),
    })
    .openapi('ChatCompletion'),
)

export const ChatCompletionChunk = answerSchema(() =>
  z
    .looseObject({
      id: z.string(),
      object: z.literal('chat.completion.chunk'),
      created: z.int(),
      model: z.string(),
      choices: z.array(
        z.object({ index: z.literal(0), delta: z.looseObject({}), finish_reason: z.enum(FINISH_REASONS).nullable(), logprobs: z.null() }),
      ),
      usage: Usage().nullish(),
      x_cellblock: Extension().optional(),
    })
    .openapi('ChatCompletionChunk'),
)
