import type { ObjectStore } from '../../../ports/object-store.ts'
import type { ConversationStore } from '../../../ports/conversation-store.ts'
import type { ResponseStore } from '../../../ports/response-store.ts'
import { loadResponse } from '../../../operations/turns/response-blobs.ts'
import type { ResponseRecord } from '../../../model/responses/response.ts'
import type { History, PastTurn } from './past-turn.ts'
import { readConversation } from './read-conversation.ts'

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
