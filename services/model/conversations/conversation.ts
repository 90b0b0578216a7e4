import type { ResponseItem } from '../responses/items/item-types.ts'

/** A stored sequence of items that turns read as history and extend. Times are epoch ms. */
export interface Conversation {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: number
  /** What a person calls it; null until it has a title. */
  readonly title: string | null
  /** Since when it is kept apart from the others; null when it is not. */
  readonly archivedAt: number | null
  /** The last acceptance of a turn, or change by a client. Absent in rows that were not changed since lists exist. */
  readonly activeAt?: number
  /** Responses that ended without completion, the oldest first: their input and output may not be among the items. Absent: none. */
  readonly unfinished?: readonly string[]
  /** Links that show it to anyone who has them, the oldest first. Absent: none. */
  readonly shares?: readonly ConversationShare[]
  /** Ids of responses in the order of acceptance. Only the head may run. */
  readonly queue: readonly string[]
  /** The container of the last turn's code; `auto` selects it again. */
  readonly containerId: string | null
  readonly deletedAt: number | null
  readonly dueAt: number | null
}

/** A read-only link to the conversation as it was at `createdAt`. Only the SHA-256 (hex) of its token is stored. */
export interface ConversationShare {
  readonly id: string
  readonly tokenHash: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** The fields that a client may change. */
export type ConversationChange = Partial<Pick<Conversation, 'metadata' | 'title' | 'archivedAt' | 'containerId'>>

type Wire = Readonly<Record<string, unknown>>

export interface ConversationItem {
  readonly v: 1
  readonly tenant: string
  readonly conversationId: string
  readonly id: string
  /** Sort key. A repetition of the step computes the same value, so a crash adds no item twice. */
  readonly position: string
  /** The response that added the item; null when the client did. */
  readonly responseId: string | null
  /** The item as the client sent it (`wire`) or as a turn produced it (`output`). */
  readonly content: { readonly kind: 'wire'; readonly item: Wire } | { readonly kind: 'output'; readonly item: ResponseItem }
}

/** Orders by time (epoch ms), then by the id of the response or request that adds the items, then by their order in it. */
export const itemPosition = (at: number, owner: string, index: number): string =>
  `${String(at).padStart(15, '0')}#${owner}#${String(index).padStart(6, '0')}`

/** The time in a position, epoch ms. */
export const positionTime = (position: string): number => Number(position.slice(0, 15))
