import type { ChatModel } from './chat-model.ts'

/** The models that this installation offers. */
export interface ModelCatalogue {
  list(): readonly { readonly id: string; readonly createdAt: number; readonly ownedBy: string }[]
  has(id: string): boolean
  /** Null for a name that `has` refuses. */
  find(id: string): OfferedModel | null
}

export interface OfferedModel {
  readonly chat: ChatModel
  /** What the endpoint calls it. */
  readonly upstreamName: string
  /** Tokens that input and output may take together. */
  readonly contextWindow: number
  /** UTF-8 bytes that make up one of its tokens on average. */
  readonly bytesPerToken: number
  /** It cannot call tools: its Python comes in fenced blocks. */
  readonly fencesCode: boolean
}
