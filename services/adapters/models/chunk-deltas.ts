import * as z from 'zod'
import type { ModelDelta } from '../../ports/chat-model.ts'
import { safeParse } from '../../model/safe-parse.ts'

const MAX_CALLS_PER_CHUNK = 128
const MAX_CALL_INDEX = 1_023
const MAX_NAME_CHARS = 256
const MAX_TOKENS = 1_000_000_000

/** A value of a wrong type counts as absent, because endpoints differ and one wrong field must not end the turn. */
const optional = <T extends z.ZodType>(type: T) => type.nullish().catch(null)
const tokens = optional(z.int().min(0).max(MAX_TOKENS))

const Call = z.object({
  index: optional(z.int().min(0).max(MAX_CALL_INDEX)),
  id: optional(z.string().max(MAX_NAME_CHARS)),
  function: optional(z.object({ name: optional(z.string().max(MAX_NAME_CHARS)), arguments: optional(z.string()) })),
})

/** The fields of a `chat.completion.chunk` that are read. */
const Chunk = z.object({
  choices: optional(
    z.array(
      z.object({
        delta: optional(
          z.object({
            content: optional(z.union([z.string(), z.array(z.object({ type: z.string(), text: optional(z.string()) }))])),
            /** Two names for one field: most endpoints use the first. */
            reasoning_content: optional(z.string()),
            reasoning: optional(z.string()),
            refusal: optional(z.string()),
            tool_calls: optional(z.array(optional(Call)).max(MAX_CALLS_PER_CHUNK)),
          }),
        ),
        finish_reason: optional(z.string()),
      }),
    ),
  ),
  usage: optional(
    z.object({
      prompt_tokens: tokens,
      completion_tokens: tokens,
      prompt_tokens_details: optional(z.object({ cached_tokens: tokens })),
      completion_tokens_details: optional(z.object({ reasoning_tokens: tokens })),
    }),
  ),
})
type Choice = NonNullable<NonNullable<z.output<typeof Chunk>['choices']>[number]>

const REASONS: Readonly<Record<string, Extract<ModelDelta, { type: 'finish' }>['reason']>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

/** The deltas of one chunk. Accepts any value that an endpoint sends. */
export function* deltasOf(raw: unknown): Generator<ModelDelta> {
  const { data: chunk } = safeParse(Chunk, raw)
  const choice = chunk?.choices?.[0]
  if (choice !== undefined) yield* choiceDeltas(choice)
  const usage = chunk?.usage
  if (usage)
    yield {
      type: 'usage',
      inputTokens: usage.prompt_tokens ?? 0,
      cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
      outputTokens: usage.completion_tokens ?? 0,
      reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    }
}

function* choiceDeltas({ delta, finish_reason: reason }: Choice): Generator<ModelDelta> {
  const thought = delta?.reasoning_content || delta?.reasoning
  if (thought) yield { type: 'reasoning', text: thought }
  const text = textOf(delta?.content)
  if (text !== '') yield { type: 'text', text }
  if (delta?.refusal) yield { type: 'refusal', text: delta.refusal }
  for (const [position, call] of (delta?.tool_calls ?? []).entries()) {
    if (!call) continue
    yield {
      type: 'tool_call',
      index: call.index ?? position,
      id: call.id ?? null,
      name: call.function?.name ?? null,
      arguments: call.function?.arguments ?? '',
    }
  }
  if (reason) yield { type: 'finish', reason: (Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ?? 'stop' }
}

/** Some endpoints send a list of parts, with the model's reasoning beside the text. */
function textOf(content: NonNullable<Choice['delta']>['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('')
}
