import type { Conversation, ConversationChange, ConversationItem, ConversationShare } from '../model/conversations/conversation.ts'
import type { Page, PageRequest } from '../model/page.ts'

export interface ConversationStore {
  create(conversation: Conversation): Promise<void>
  /** Deleted ones are returned too, with `deletedAt`. */
  get(tenant: string, id: string): Promise<Conversation | null>
  /** The conversations of the tenant, ordered by the time of their last activity, in pages. */
  list(tenant: string, page: PageRequest): Promise<Page<Conversation>>
  /** Also moves it to the top of the list. Null when missing or deleted. */
  update(tenant: string, id: string, entry: { readonly change: ConversationChange; readonly now: number }): Promise<Conversation | null>
  /**
   * Appends to the queue unless the id is in it, and moves the conversation to the top of the list. `missing` includes deleted conversations; `full` at
   * LIMITS.maxQueuedPerConversation.
   */
  enqueue(
    tenant: string,
    id: string,
    entry: { readonly responseId: string; readonly now: number },
  ): Promise<Conversation | 'missing' | 'full'>
  /**
   * Removes the head if it is this response, records its container if it had one, and lists it as unfinished if it is; null when the head is another
   * one. Of unfinished responses the latest LIMITS.maxUnfinishedPerConversation are kept.
   */
  dequeue(
    tenant: string,
    id: string,
    entry: { readonly responseId: string; readonly containerId: string | null; readonly isUnfinished?: boolean },
  ): Promise<Conversation | null>
  /** `full` at LIMITS.maxSharesPerConversation; expired ones are replaced. */
  addShare(
    tenant: string,
    id: string,
    entry: { readonly share: ConversationShare; readonly now: number },
  ): Promise<Conversation | 'missing' | 'full'>
  /** Null when it has no such share. */
  removeShare(tenant: string, id: string, shareId: string): Promise<Conversation | null>
  /** Marks the conversation as deleted; later calls answer as for a missing one. Idempotent; null when missing. */
  markDeleted(tenant: string, id: string, times: { readonly now: number; readonly dueAt: number }): Promise<Conversation | null>
  /** Removes the row only; `removeItems` removes the items. */
  remove(tenant: string, id: string): Promise<void>
  /** An item replaces an existing one at the same position. */
  putItems(items: readonly ConversationItem[]): Promise<void>
  /** A page of items after this position, in this order. Consistent. */
  items(
    tenant: string,
    conversationId: string,
    page: { readonly after: string | null; readonly limit: number; readonly order: 'asc' | 'desc' },
  ): Promise<{ readonly rows: readonly ConversationItem[]; readonly hasMore: boolean }>
  findItem(tenant: string, conversationId: string, id: string): Promise<ConversationItem | null>
  removeItem(item: ConversationItem): Promise<void>
  removeItems(tenant: string, conversationId: string): Promise<void>
}
