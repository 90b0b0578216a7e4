import type { ModelContentPart, ModelToolCall } from '../model/responses/model-content.ts'

/** One model behind one name. Implementations: Chat Completions through the `openai` package, and the built-in `demo`. */
export interface ChatModel {
  /** Streams one answer. Throws ModelError. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta>
}

export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ModelContentPart[] }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string }

export interface ModelRequest {
  readonly model: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: Readonly<Record<string, unknown>> }[]
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string }
  readonly temperature: number | null
  readonly topP: number | null
  readonly maxOutputTokens: number | null
  /** False: at most one call in an answer. */
  readonly parallelToolCalls: boolean
  /** The response format of Chat Completions; null for free text. */
  readonly responseFormat: Readonly<Record<string, unknown>> | null
  readonly reasoningEffort: string | null
  readonly verbosity: string | null
  /** The model cannot call tools and writes code in fenced blocks. */
  readonly fencesCode: boolean
}

export type ModelDelta =
  /** Parameters of the request that the model does not support and that were left out, by their names in `POST /v1/responses`. */
  | { readonly type: 'dropped_parameters'; readonly names: readonly string[] }
  | { readonly type: 'text'; readonly text: string }
  /** What the model thinks before its answer. */
  | { readonly type: 'reasoning'; readonly text: string }
  /** The model refuses; a message has either text or a refusal. */
  | { readonly type: 'refusal'; readonly text: string }
  /** A fragment of a tool call; `index` identifies the call within the answer. */
  | {
      readonly type: 'tool_call'
      readonly index: number
      readonly id: string | null
      readonly name: string | null
      readonly arguments: string
    }
  | {
      readonly type: 'usage'
      readonly inputTokens: number
      readonly cachedTokens: number
      readonly outputTokens: number
      readonly reasoningTokens: number
    }
  | { readonly type: 'finish'; readonly reason: 'stop' | 'length' | 'tool_calls' | 'content_filter' }

interface ModelErrorOptions {
  readonly retryable: boolean
  readonly status: number | null
  readonly tooLong?: { readonly window: number | null } | null
  readonly cause?: unknown
}

/** `retryable`: whether the same request may succeed later. */
export class ModelError extends Error {
  readonly retryable: boolean
  readonly status: number | null
  /** Set when the conversation exceeds the model's context window; `window` is the size that the endpoint reported, tokens. */
  readonly tooLong: { readonly window: number | null } | null
  constructor(message: string, options: ModelErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ModelError'
    this.retryable = options.retryable
    this.status = options.status
    this.tooLong = options.tooLong ?? null
  }
}
