import type { ResponseItem } from '../responses/response.ts'

/** Items that turns read as their history and add to. Times are epoch ms. */
export interface Conversation {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: number
  /** Responses in the order in which they were accepted. Only the first may work: one running response per conversation. */
  readonly queue: readonly string[]
  /** Where the code of its last turn ran; `auto` means this container again. */
  readonly containerId: string | null
  readonly deletedAt: number | null
  readonly dueAt: number | null
}

type Wire = Readonly<Record<string, unknown>>

export interface ConversationItem {
  readonly v: 1
  readonly tenant: string
  readonly conversationId: string
  readonly id: string
  /** Orders the items. The same for every repetition of the step that adds it, so that no crash adds an item twice. */
  readonly position: string
  /** The response that added it; null when the caller did. */
  readonly responseId: string | null
  /** As it came from the caller, or as a turn produced it. */
  readonly content: { readonly kind: 'wire'; readonly item: Wire } | { readonly kind: 'output'; readonly item: ResponseItem }
}

/** By time (epoch ms), then by what adds the items, then by their order in it. `owner` is an id. */
export const itemPosition = (at: number, owner: string, index: number): string =>
  `${String(at).padStart(15, '0')}#${owner}#${String(index).padStart(6, '0')}`
