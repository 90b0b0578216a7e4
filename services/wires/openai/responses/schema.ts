import * as z from 'zod'
import { boundedList, boundedRecord, openObject, smallJson } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { Metadata } from '../../../http/schemas.ts'
import { CacheRetention, ModelName, SafetyIdentifier, ServiceTier, ToolChoice, Verbosity } from '../turn-fields.ts'
import { MemoryLimit, NetworkPolicy } from '../containers/schema.ts'
import { OutputItem } from './item-schemas.ts'
import { Skills } from '../skills/skill-references.ts'
import { LIMITS } from '../../../model/limits.ts'
import { ITEM_TYPES } from '../../../model/responses/items/item-types.ts'
import { EXTENSION_EVENTS, RESPONSE_STATUSES } from '../../../model/responses/response.ts'

/** Items of one request, and content parts of one item. */
const MAX_ITEMS = 20_000
const MAX_PARTS = 1_000
/** One entry of `reasoning` as JSON, characters: it is stored as it is. */
const MAX_SETTING_LENGTH = 4_096

const WireObject = lazySchema(() => boundedRecord(z.string(), z.unknown(), 100))

const ContentPart = lazySchema(() => openObject({ type: z.string('give the type of the content part, for example "input_text"') }))

/** Optional parts of an answer. */
const INCLUDES = [
  ...ITEM_TYPES.flatMap(({ include }) => include ?? []),
  { name: EXTENSION_EVENTS, description: 'live output in the stream' },
]

/** Parts that OpenAI's API knows besides, and that answers of this service do not have. */
const OTHER_INCLUDES: readonly string[] = [
  ...['file_search_call', ...ITEM_TYPES.map(({ type }) => type)].map((type) => `${type}.results`),
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
]

/** An item as in the request. Unknown fields are kept, because clients return items that they have received. */
export const InputItem = lazySchema(() =>
  openObject({
    type: z.string().optional(),
    role: z.enum(['user', 'assistant', 'system', 'developer']).optional(),
    content: z.union([z.string(), boundedList(ContentPart(), { max: MAX_PARTS })], 'give a string or a list of content parts').nullish(),
  })
    .refine((item) => item.type !== undefined || item.role !== undefined, 'give a type or a role')
    .refine(
      (item) => (item.type ?? 'message') !== 'message' || (item.role !== undefined && item.content !== undefined && item.content !== null),
      'give a message a role and a content',
    ),
)

/** An unknown field is refused, because a misspelt `file_ids` would otherwise give a container without the files. */
const AutoContainer = lazySchema(() =>
  z.strictObject({
    type: z.literal('auto', 'give the id of a container, or {"type": "auto"}'),
    file_ids: boundedList(z.string().max(200), { max: LIMITS.maxFileIds }).nullish(),
    memory_limit: MemoryLimit().nullish(),
    network_policy: NetworkPolicy().nullish(),
  }),
)

export const CodeInterpreterTool = lazySchema(() =>
  openObject({
    type: z.literal('code_interpreter'),
    container: z.union([z.string(), AutoContainer()], 'give the id of a container, or {"type": "auto"}'),
  }),
)

export type CodeInterpreterTool = Described<typeof CodeInterpreterTool>

const ShellEnvironment = lazySchema(() =>
  z.union(
    [
      AutoContainer().extend({ type: z.literal('container_auto'), skills: Skills().nullish() }),
      z.strictObject({ type: z.literal('container_reference'), container_id: z.string() }),
      openObject({
        type: z.literal('local'),
        skills: boundedList(openObject({ name: z.string(), description: z.string(), path: z.string() }), { max: 200 }).nullish(),
      }),
    ],
    'give {"type": "container_auto"}, {"type": "container_reference", "container_id": …} or {"type": "local"}',
  ),
)

export const ShellTool = lazySchema(() => openObject({ type: z.literal('shell'), environment: ShellEnvironment().nullish() }))

export const FunctionTool = lazySchema(() =>
  openObject({
    type: z.literal('function'),
    name: z
      .string()
      .min(1, 'give the function a name')
      .max(128)
      .regex(/^[\w.-]+$/, 'use letters, digits, "_", "-" and "."'),
    parameters: WireObject().nullish(),
  }),
)

const Tool = lazySchema(() => openObject({ type: z.string('give the type of the tool') }))

const Include = lazySchema(() =>
  boundedList(
    z
      .string()
      .refine((name) => [...INCLUDES.map((known) => known.name), ...OTHER_INCLUDES].includes(name), 'give a part that answers can have'),
    { max: 32 },
  )
    .nullish()
    .openapi({
      description: INCLUDES.map(({ name, description }) => `\`${name}\` for ${description}`)
        .join(', ')
        .concat('.'),
    }),
)

/** Unknown fields are ignored, because clients may be newer than the server. */
export const CreateResponse = lazySchema(() =>
  z
    .object({
      model: ModelName(),
      input: z
        .union([z.string(), boundedList(InputItem(), { max: MAX_ITEMS })], 'give a string or a list of items')
        .openapi({ description: 'The input of the turn: a string, or items (messages, function_call_output, items of earlier answers).' }),
      instructions: z.string().nullish(),
      tools: boundedList(Tool(), { max: 128 }).nullish().openapi({
        description:
          '`code_interpreter`, `shell`, `apply_patch`, `function`, and what the operator offers, such as `web_search`; others are refused with `unsupported_value`.',
      }),
      tool_choice: ToolChoice(),
      include: Include(),
      stream: z.boolean().nullish(),
      store: z.boolean().nullish(),
      background: z.boolean().nullish(),
      previous_response_id: z.string().max(200).nullish(),
      conversation: z
        .union([z.string().max(200), openObject({ id: z.string().max(200) })], 'give the id of a conversation')
        .nullish()
        .openapi({ description: 'Its items are the history; input and output are added to it. Not together with `previous_response_id`.' }),
      metadata: Metadata().nullish(),
      max_output_tokens: z.int().min(1, 'give at least 1').nullish(),
      max_tool_calls: z.int().min(1, 'give at least 1').nullish(),
      parallel_tool_calls: z.boolean().nullish(),
      temperature: z.number().min(0, 'give 0 to 2').max(2, 'give 0 to 2').nullish(),
      top_p: z.number().min(0, 'give 0 to 1').max(1, 'give 0 to 1').nullish(),
      user: z.string().max(512).nullish(),
      reasoning: boundedRecord(z.string().max(64), smallJson(MAX_SETTING_LENGTH), 20)
        .nullish()
        .openapi({ description: '`effort` is passed on to the model.' }),
      text: openObject({ format: openObject({ type: z.string() }).nullish(), verbosity: Verbosity() })
        .nullish()
        .openapi({ description: '`format` (`text`, `json_object`, `json_schema`) and `verbosity` are passed on to the model.' }),
      safety_identifier: SafetyIdentifier(),
      prompt_cache_key: z.string().max(512).nullish(),
      prompt_cache_retention: CacheRetention(),
      truncation: z.enum(['auto', 'disabled'], 'give "auto" or "disabled"').nullish(),
      service_tier: ServiceTier(),
      top_logprobs: z.int().min(0, 'give 0 to 20').max(20, 'give 0 to 20').nullish(),
      generate: z
        .boolean()
        .nullish()
        .openapi({ description: 'False: the response ends without an answer; a later one continues from its input.' }),
      prompt: z.null('stored prompts are not supported; send instructions and input').optional(),
    })
    .openapi('CreateResponse'),
)
export type CreateResponse = Described<typeof CreateResponse>

export const conversationIdOf = ({ conversation }: Pick<CreateResponse, 'conversation'>): string | null =>
  typeof conversation === 'string' ? conversation : (conversation?.id ?? null)

export const ResponseBody = answerSchema(() =>
  z
    .looseObject({
      id: z.string().openapi({ example: 'resp_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('response'),
      created_at: z.int(),
      completed_at: z.int().nullable(),
      status: z.enum(RESPONSE_STATUSES),
      background: z.boolean(),
      model: z.string(),
      output: z.array(OutputItem()),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
      incomplete_details: z.object({ reason: z.string() }).nullable(),
      previous_response_id: z.string().nullable(),
      conversation: z.object({ id: z.string() }).nullable(),
      usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).nullable(),
      metadata: z.record(z.string(), z.string()),
      x_cellblock: z
        .looseObject({
          container_id: z.string().nullable(),
          context: z.record(z.string(), z.union([z.int(), z.boolean()])).nullable(),
          dropped_parameters: z.array(z.string()).openapi({ example: ['temperature'] }),
        })
        .openapi({
          description:
            'The container that was used, also for `auto`; the part of a conversation that was left out because it exceeds the context window, null if none was; and the parameters that were not sent because the model does not support them.',
        }),
    })
    .openapi('Response'),
)

/** OpenAI's wire adds event types over time, so the schema fixes only the fields that every event has. */
export const ResponseEvent = answerSchema(() =>
  z
    .looseObject({
      type: z.string().openapi({ example: 'response.output_text.delta', description: 'The same as in the field `event`.' }),
      sequence_number: z.int().openapi({ description: 'Consecutive numbers from 0.' }),
      response: ResponseBody().optional().openapi({ description: 'In `response.created`, `response.in_progress` and the terminal event.' }),
    })
    .openapi('ResponseEvent', {
      description:
        "The `data` of a server-sent event, as OpenAI's Responses wire defines it. The last one is `response.completed`, `response.failed`, `response.incomplete` or `response.cancelled`, then comes `[DONE]`.",
    }),
)
