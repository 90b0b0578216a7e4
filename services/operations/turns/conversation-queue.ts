import type { Queue } from '../../ports/queue.ts'
import { notifyResponse } from '../notify/notify-response.ts'
import type { Conversation } from '../../model/conversations/conversation.ts'
import type { ConversationStore } from '../../ports/conversation-store.ts'
import type { ResponseStore } from '../../ports/response-store.ts'
import { hasResponseEnded, type ResponseRecord } from '../../model/responses/response.ts'

/**
 * A response that ended leaves its conversation's queue, and the next one is enqueued. `containerId`: where its code ran, if it ran. A repetition changes
 * nothing.
 */
export async function leaveConversation(
  ports: { readonly conversations: ConversationStore; readonly queue: Queue },
  { tenant, id, conversationId, status }: Pick<ResponseRecord, 'tenant' | 'id' | 'conversationId' | 'status'>,
  containerId: string | null,
): Promise<void> {
  if (conversationId === null) return
  const isUnfinished = status !== 'completed'
  const next = (await ports.conversations.dequeue(tenant, conversationId, { responseId: id, containerId, isUnfinished }))?.queue[0]
  if (next !== undefined) await notifyResponse(ports.queue, { tenant, id: next })
}

/** Whether a response of the conversation has not ended. Heads that have, or that were deleted, are removed from the queue. */
export async function hasLiveResponse(
  ports: { readonly conversations: ConversationStore; readonly responses: ResponseStore },
  { tenant, id, queue }: Conversation,
): Promise<boolean> {
  for (const head of queue) {
    const response = await ports.responses.get(tenant, head)
    if (response !== null && !hasResponseEnded(response.status)) return true
    const isUnfinished = response !== null && response.status !== 'completed'
    await ports.conversations.dequeue(tenant, id, { responseId: head, containerId: null, isUnfinished })
  }
  return false
}

/** Maximum number of stale queue heads that one call removes. */
const MAX_DEAD = 20

/**
 * Whether another response of the conversation must end first. Enqueues this response if it is not in the queue, and removes stale heads:
 * responses that ended or were deleted without leaving the queue. A deleted conversation delays no response.
 */
export async function mustWait(
  ports: { readonly conversations: ConversationStore; readonly responses: ResponseStore },
  row: Pick<ResponseRecord, 'tenant' | 'id' | 'createdAt'> & { readonly conversationId: string },
): Promise<boolean> {
  const { tenant, id, conversationId, createdAt } = row
  for (let dead = 0; dead <= MAX_DEAD; dead += 1) {
    const conversation = await ports.conversations.enqueue(tenant, conversationId, { responseId: id, now: createdAt })
    if (conversation === 'missing') return false
    if (conversation === 'full') return true
    const head = conversation.queue[0]
    if (head === undefined || head === id) return false
    const before = await ports.responses.get(tenant, head)
    if (before !== null && !hasResponseEnded(before.status)) return true
    const isUnfinished = before !== null && before.status !== 'completed'
    await ports.conversations.dequeue(tenant, conversationId, { responseId: head, containerId: null, isUnfinished })
  }
  return true
}
