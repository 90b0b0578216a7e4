import { itemPosition, type ConversationItem } from '../../model/conversations/conversation.ts'
import { leaveConversation } from '../../operations/turns/conversation-queue.ts'
import { inputItemId, wireItems } from '../../model/responses/input-items.ts'
import { dayOf } from '../../model/usage/usage.ts'
import { LeaseLostError } from '../../jobs/lease.ts'
import type { TurnDeps } from './deps.ts'
import type { NextAction } from './next-action.ts'
import { closeCall } from './pending-job.ts'
import { commitEnd, saveTurn } from './turn-store.ts'
import type { Turn } from './turn.ts'
import type { TurnView } from './turn-state.ts'
import { isOpenCall, type ResponseItem } from '../../model/responses/items/item-types.ts'

/** Ends a turn with its one terminal state: cancels or closes open items, adds its items to the conversation, and commits the end. */
export async function endTurn(deps: TurnDeps, turn: Turn, action: Extract<NextAction, { kind: 'end' }>): Promise<void> {
  const { status, incompleteReason } = action
  turn.apply({ state: { incompleteReason } })
  if (turn.state.pending !== null) {
    // The available output is copied, so readers must not read ahead of the copy.
    if (turn.hasLiveOutput) await saveTurn(deps, turn, { liveOutputFence: 0 })
    turn.apply(await closeCall(deps, turn))
  }
  turn.apply({ finished: openItems(turn) })
  await turn.log.fence()
  await checkFence(deps, turn)
  // A turn without output adds nothing to the conversation, because its client asks again.
  if (turn.state.items.length > 0 || status === 'completed') await addToConversation(deps, turn)
  await recordTokens(deps, turn)
  await commitEnd(deps, turn, status)
  await leaveConversation({ conversations: deps.table.conversations, queue: deps.queue }, { ...turn.row, status }, turn.state.containerId)
}

/**
 * The items and the tokens are written without a fence. A worker that was paused until another one had taken over must not replace them with its
 * older ones. Throws LeaseLostError.
 */
async function checkFence({ table: { responses } }: Pick<TurnDeps, 'table'>, { row }: Turn): Promise<void> {
  if ((await responses.get(row.tenant, row.id))?.fence !== row.fence) throw new LeaseLostError(row.id)
}

/** Called before the end is committed, so that a crash does not lose the record; a repetition replaces it. */
async function recordTokens(deps: TurnDeps, { row, state: { usage } }: TurnView): Promise<void> {
  if (usage.inputTokens + usage.outputTokens === 0) return
  await deps.table.usage.put({
    v: 1,
    tenant: row.tenant,
    subject: row.subject,
    executionId: row.id,
    purpose: 'turn',
    day: dayOf(row.createdAt),
    sandboxSeconds: 0,
    cpuMs: 0,
    peakMemoryBytes: 0,
    outputBytes: 0,
    costUsd: 0,
    modelInputTokens: usage.inputTokens,
    modelOutputTokens: usage.outputTokens,
  })
}

const openItems = ({ row, state }: TurnView): [number, ResponseItem][] =>
  [...state.items.entries()]
    .filter(([, item]) => item.status === 'in_progress' || item.status === 'interpreting' || isOpenCall(item, row.request))
    .map(([index, item]) => [index, { ...item, status: 'incomplete' }])

/**
 * Adds the input and the output of the turn to its conversation. This happens before the end is committed, so that a client that sees the end sees
 * the items; a repetition writes the same items to the same positions.
 */
async function addToConversation(deps: TurnDeps, { row, state }: TurnView): Promise<void> {
  const { tenant, id, conversationId, createdAt, request } = row
  if (conversationId === null) return
  const conversation = await deps.table.conversations.get(tenant, conversationId)
  if (conversation === null || conversation.deletedAt !== null) return
  const input = wireItems(request.input, (type, index) => inputItemId(id, type, index))
  const contents: ConversationItem['content'][] = [
    ...input.map((item) => ({ kind: 'wire' as const, item })),
    ...state.items.map((item) => ({ kind: 'output' as const, item })),
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
