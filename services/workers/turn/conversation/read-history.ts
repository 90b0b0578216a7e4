import type { ObjectStore } from '../../../ports/object-store.ts'
import type { ConversationStore } from '../../../ports/conversation-store.ts'
import type { ResponseStore } from '../../../ports/response-store.ts'
import { loadResponse } from '../../../operations/turns/response-blobs.ts'
import type { ResponseRecord } from '../../../model/responses/response.ts'
import type { History, PastTurn } from './past-turn.ts'
import type { ConversationItem } from '../../../model/conversations/conversation.ts'

/** Maximum number of turns that are read, from the latest. */
const MAX_TURNS = 200

/**
 * The earlier turns, oldest first: the items of the conversation, or the chain of previous responses, read row by row until there is no earlier one, one
 * was deleted, or `isEnough` returns true.
 */
export async function readHistory(
  ports: { readonly responses: ResponseStore; readonly conversations: ConversationStore; readonly objects: ObjectStore },
  response: Pick<ResponseRecord, 'tenant' | 'previousResponseId' | 'conversationId'>,
  isEnough: (turns: readonly PastTurn[]) => boolean,
): Promise<History> {
  const { tenant, conversationId } = response
  if (conversationId !== null) return readConversation(ports.conversations, { tenant, conversationId }, isEnough)
  const turns: ResponseRecord[] = []
  let id = response.previousResponseId
  while (id !== null && turns.length < MAX_TURNS && !isEnough(turns)) {
    const row = await ports.responses.get(tenant, id)
    if (row === null) return { turns, isWhole: true }
    turns.unshift(await loadResponse(ports.objects, row))
    id = row.previousResponseId
  }
  return { turns, isWhole: id === null }
}

const ITEMS_PER_READ = 100

/** A conversation's items as turns, oldest first. Reads from the end until `isEnough` returns true. */
async function readConversation(
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
