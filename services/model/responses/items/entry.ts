import type { ModelContentPart, ModelToolCall } from '../model-content.ts'

/** The parts of a conversation, from which the messages for a model are built. */
export type Entry =
  | { readonly kind: 'system'; readonly text: string }
  | { readonly kind: 'user'; readonly content: string | readonly ModelContentPart[] }
  | { readonly kind: 'said'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ModelToolCall }
  | { readonly kind: 'result'; readonly callId: string; readonly text: string; readonly images?: readonly ResultImage[] }

/** An image that code showed, which is a stored object, or wrote to a file of its container. */
export interface ResultImage {
  readonly source: { readonly objectKey: string; readonly mime: string } | { readonly fileId: string }
  /** A data URL; null until the request is sent. */
  readonly url: string | null
}
