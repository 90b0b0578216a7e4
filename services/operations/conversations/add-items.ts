import { itemPosition, type Conversation, type ConversationItem } from '../../model/conversations/conversation.ts'
import { derivedId, newId } from '../../model/ids.ts'
import { wireItems } from '../../model/responses/input-items.ts'
import type { Table } from '../../ports/table.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedId } from '../claimed-id.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * Adds the client's items; an item that occurs twice is added twice. Ids and positions follow from the claim, so a repeated call with the same claim
 * changes nothing.
 */
export async function addItems(
  deps: { readonly table: Table; readonly clock: Clock },
  { tenant, id: conversationId }: Conversation,
  { given, claimed }: { readonly given: readonly Wire[]; readonly claimed?: Omit<ClaimedId, 'isReplay'> },
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
