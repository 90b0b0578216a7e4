import type { ConversationStore } from '../ports/conversation-store.ts'
import type { ResponseStore } from '../ports/response-store.ts'
import { hasResponseEnded, type ResponseRecord } from '../responses/response.ts'

/** Maximum number of stale queue heads that one call removes. */
const MAX_DEAD = 20

/**
 * Whether another response of the conversation must end first. Enqueues this response if it is not in the queue, and removes stale heads:
 * responses that ended or were deleted without leaving the queue. A deleted conversation delays no response.
 */
export async function mustWait(
  ports: { readonly conversations: ConversationStore; readonly responses: ResponseStore },
  row: Pick<ResponseRecord, 'tenant' | 'id'> & { readonly conversationId: string },
): Promise<boolean> {
  const { tenant, id, conversationId } = row
  for (let dead = 0; dead <= MAX_DEAD; dead += 1) {
    const conversation = await ports.conversations.enqueue(tenant, conversationId, id)
    if (conversation === 'missing') return false
    if (conversation === 'full') return true
    const head = conversation.queue[0]
    if (head === undefined || head === id) return false
    const before = await ports.responses.get(tenant, head)
    if (before !== null && !hasResponseEnded(before.status)) return true
    await ports.conversations.dequeue(tenant, conversationId, head, null)
  }
  return true
}
