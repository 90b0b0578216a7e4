import { itemPosition, type Conversation, type ConversationItem } from '../../core/conversations/conversation.ts'
import { newId } from '../../core/ids.ts'
import { wireItems } from '../../core/responses/input-items.ts'
import type { ApiDeps } from '../deps.ts'

type Wire = Readonly<Record<string, unknown>>

/** Adds what the caller gives, under fresh ids: an item that is given twice is there twice. */
export async function addItems(
  deps: Pick<ApiDeps, 'table' | 'clock'>,
  { tenant, id: conversationId }: Conversation,
  given: readonly Wire[],
): Promise<readonly ConversationItem[]> {
  const now = deps.clock.now()
  const owner = newId('item')
  const items = wireItems(given, (type) => newId(type === 'message' ? 'message' : 'item')).map((item, index): ConversationItem => ({
    v: 1,
    tenant,
    conversationId,
    id: item.id,
    position: itemPosition(now, owner, index),
    responseId: null,
    content: { kind: 'wire', item },
  }))
  await deps.table.conversations.putItems(items)
  return items
}
