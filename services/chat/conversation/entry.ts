import type { ModelContentPart, ModelToolCall } from '../../core/ports/chat-model.ts'

/** A conversation in its smallest parts, from which messages for a model are put together. */
export type Entry =
  | { readonly kind: 'system'; readonly text: string }
  | { readonly kind: 'user'; readonly content: string | readonly ModelContentPart[] }
  | { readonly kind: 'said'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ModelToolCall }
  | { readonly kind: 'result'; readonly callId: string; readonly text: string }
