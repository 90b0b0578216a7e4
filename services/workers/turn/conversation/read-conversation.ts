import type { ConversationItem } from '../../../model/conversations/conversation.ts'
import type { ConversationStore } from '../../../ports/conversation-store.ts'
import type { History, PastTurn } from './past-turn.ts'

const ITEMS_PER_READ = 100

/** A conversation's items as turns, oldest first. Reads from the end until `isEnough` returns true. */
export async function readConversation(
  conversations: ConversationStore,
  conversation: { readonly tenant: string; readonly conversationId: string },
  isEnough: (turns: readonly PastTurn[]) => boolean,
): Promise<History> {
  const { tenant, conversationId } = conversation
  const row = await conversations.get(tenant, conversationId)
  if (row === null || row.deletedAt !== null) return { turns: [], isWhole: true }
  let items: readonly ConversationItem[] = []
  for (;;) {
    const after = items[0]?.position ?? null
    const page = await conversations.items(tenant, conversationId, { after, limit: ITEMS_PER_READ, order: 'desc' })
    items = [...page.rows.toReversed(), ...items]
    const turns = turnsOf(items, row.containerId)
    if (!page.hasMore || isEnough(turns)) return { turns, isWhole: !page.hasMore }
  }
}

/** The items of one response are one group; every other item is a separate group. */
function turnsOf(items: readonly ConversationItem[], containerId: string | null): readonly PastTurn[] {
  const turns: (PastTurn & { readonly of: string | null })[] = []
  for (const { content, responseId } of items) {
    const last = turns.at(-1)
    if (content.kind === 'wire') turns.push({ of: null, status: 'completed', containerId, request: { input: [content.item] }, items: [] })
    else if (last !== undefined && last.of === responseId && responseId !== null)
      turns[turns.length - 1] = { ...last, items: [...last.items, content.item] }
    else turns.push({ of: responseId, status: 'completed', containerId, request: { input: [] }, items: [content.item] })
  }
  return turns
}
