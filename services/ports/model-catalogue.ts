import type { ChatModel } from './chat-model.ts'

/** The models that this installation offers. */
export interface ModelCatalogue {
  list(): readonly { readonly id: string; readonly createdAt: number; readonly ownedBy: string; readonly readsImages: boolean }[]
  has(id: string): boolean
  /** Null for an unknown name. */
  find(id: string): OfferedModel | null
}

export interface OfferedModel {
  readonly chat: ChatModel
  /** The model's name at its endpoint. */
  readonly upstreamName: string
  /** Tokens that input and output may take together. */
  readonly contextWindow: number
  /** UTF-8 bytes that make up one of its tokens on average. */
  readonly bytesPerToken: number
  /** The model cannot call tools and writes Python in fenced blocks. */
  readonly fencesCode: boolean
  /** The model receives the images that code shows or writes. */
  readonly readsImages: boolean
  /** Every answer satisfies the JSON schema of the request. The answers of other models are checked, and corrected if necessary. */
  readonly enforcesSchema: boolean
}
