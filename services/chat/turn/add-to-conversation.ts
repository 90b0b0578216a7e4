import { notifyResponse } from '../../core/responses/accept-response.ts'
import { itemPosition, type ConversationItem } from '../../core/conversations/conversation.ts'
import { inputItemId, wireItems } from '../../core/responses/input-items.ts'
import type { TurnDeps } from '../deps.ts'
import type { Turn } from './turn.ts'

/**
 * Adds what the turn was asked and what it produced to its conversation. Done before the turn's end is committed, so that whoever sees the
 * end sees the items; a repetition writes the same items to the same places.
 */
export async function addToConversation(deps: TurnDeps, turn: Turn): Promise<void> {
  const { tenant, id, conversationId, createdAt, request } = turn.row
  if (conversationId === null) return
  const conversation = await deps.table.conversations.get(tenant, conversationId)
  if (conversation === null || conversation.deletedAt !== null) return
  const asked = wireItems(request.input, (type, index) => inputItemId(id, type, index))
  const contents: ConversationItem['content'][] = [
    ...asked.map((item) => ({ kind: 'wire' as const, item })),
    ...turn.items.map((item) => ({ kind: 'output' as const, item })),
  ]
  await deps.table.conversations.putItems(
    contents.map((content, index) => ({
      v: 1,
      tenant,
      conversationId,
      id: String(content.item.id),
      position: itemPosition(createdAt, id, index),
      responseId: id,
      content,
    })),
  )
}

/** Gives way to the next response of the conversation. One that never gets to it is found ended by the next. */
export async function leaveConversation(deps: TurnDeps, turn: Turn): Promise<void> {
  const { tenant, id, conversationId } = turn.row
  if (conversationId === null) return
  const next = (await deps.table.conversations.dequeue(tenant, conversationId, id, turn.containerId))?.queue[0]
  if (next !== undefined) await notifyResponse(deps.queue, tenant, next)
}
