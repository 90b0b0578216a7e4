export type ModelContentPart = { readonly type: 'text'; readonly text: string } | { readonly type: 'image'; readonly url: string }

export interface ModelToolCall {
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it; may be invalid. */
  readonly arguments: string
}
