import { itemPosition, type Conversation, type ConversationItem } from '../../core/conversations/conversation.ts'
import { derivedId, newId } from '../../core/ids.ts'
import { wireItems } from '../../core/responses/input-items.ts'
import type { ApiDeps } from '../deps.ts'
import type { ClaimedId } from '../http/claim-id.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * Adds the client's items; an item that occurs twice is added twice. Ids and positions follow from the claim, so a repeated call with the same claim
 * changes nothing.
 */
export async function addItems(
  deps: Pick<ApiDeps, 'table' | 'clock'>,
  { tenant, id: conversationId }: Conversation,
  given: readonly Wire[],
  claimed?: Omit<ClaimedId, 'isReplay'>,
): Promise<readonly ConversationItem[]> {
  const { id: owner, at } = claimed ?? { id: newId('item'), at: deps.clock.now() }
  const items = wireItems(given, (type, index) => derivedId(type === 'message' ? 'message' : 'item', at, `${owner}#${index}`)).map(
    (item, index): ConversationItem => ({
      v: 1,
      tenant,
      conversationId,
      id: item.id,
      position: itemPosition(at, owner, index),
      responseId: null,
      content: { kind: 'wire', item },
    }),
  )
  await deps.table.conversations.putItems(items)
  return items
}
