import { call, messageOf } from '../api/call.ts'
import type { Execution, List, WireItem } from '../api/types.ts'
import { isActive, resumeCell } from './cells.ts'
import { chats, currentChat, refreshChats, type Chat } from './chats.ts'
import { entries, historyFailure, isBusy, isLoading, resetConversation } from './conversation.ts'
import { entriesOf, responseIdOf, ulidOf } from './history-entries.ts'
import { hasEnded, type Answer, type Entry } from './timeline.ts'
import { inputOf, replayTurn, resumeTurn } from './turns.ts'
import { openContainer } from './workspace.ts'

/** Shows a chat: its history from the server, turns that failed or were stopped, and what still runs. */
export async function loadChat(chat: Chat): Promise<void> {
  const signal = resetConversation()
  void openContainer(chat)
  if (chat.id === null) return
  isLoading.value = true
  try {
    const [items, turns] = await Promise.all([readItems(chat.id, signal), readTurns(chat, signal)])
    if (signal.aborted) return
    entries.value = merge(items, turns)
    isLoading.value = false
    await resume(turns, signal)
  } catch (error) {
    if (!signal.aborted) historyFailure.value = messageOf(error)
  } finally {
    if (!signal.aborted) isLoading.value = false
  }
}

async function readItems(conversationId: string, signal: AbortSignal): Promise<WireItem[]> {
  const items: WireItem[] = []
  for (let after = ''; ;) {
    const path = `/v1/conversations/${conversationId}/items?limit=100&order=asc&include[]=code_interpreter_call.outputs${after}`
    const page = await call<List<WireItem>>(path, { signal })
    items.push(...page.data)
    if (!page.has_more || page.last_id === null) return items
    after = `&after=${page.last_id}`
  }
}

/** A turn that is not, or not as it was shown, among the items of the conversation. */
interface Turn {
  readonly answer: Answer
  readonly input: readonly WireItem[]
}

async function readTurns(chat: Chat, signal: AbortSignal): Promise<readonly Turn[]> {
  const turns = await Promise.all(
    [...chat.unfinished, ...chat.running].map(async (id): Promise<Turn | null> => {
      const answer = await replayTurn(id, signal)
      return answer === null ? null : { answer, input: await inputOf(id, signal) }
    }),
  )
  return turns.filter((turn) => turn !== null)
}

/** Every turn at its time: ids of the server begin with it. The items of an unfinished turn are replaced by what its stream showed. */
function merge(items: readonly WireItem[], turns: readonly Turn[]): Entry[] {
  const unfinished = new Map(turns.map((turn) => [turn.answer.responseId, turn]))
  const isOfTurn = groupByTurn(items)
  const kept = items.filter((item) => !unfinished.has(isOfTurn.get(item) ?? null))
  const groups = [
    ...turns.map(({ answer, input }) => ({ at: ulidOf(answer.responseId), entries: [...entriesOf(input), answer] })),
    ...entriesOf(kept).map((entry) => ({ at: placeOf(entry), entries: [entry] })),
  ]
  let latest = ''
  // An entry without a time stands after the one before it.
  const timed = groups.map((group) => ({ ...group, at: group.at === '' ? latest : (latest = group.at) }))
  return timed.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).flatMap((group) => group.entries)
}

const placeOf = (entry: Entry): string => {
  if (entry.kind === 'cell' && entry.place !== undefined) return entry.place
  return ulidOf(entry.kind === 'answer' ? entry.responseId : entry.id)
}

/** The response of each item: a turn adds its input first, and the id of its first message has the id of the response. */
function groupByTurn(items: readonly WireItem[]): Map<WireItem, string | null> {
  let current: string | null = null
  return new Map(
    items.map((item) => {
      if (item.type === 'message' && item.role === 'user') current = responseIdOf(item.id)
      return [item, isOutput(item) ? current : responseIdOf(item.id)]
    }),
  )
}

const isOutput = (item: WireItem): boolean =>
  !(item.type === 'message' && item.role !== 'assistant') &&
  item.type !== 'x_cellblock_refused' &&
  !(item.type === 'code_interpreter_call' && item.x_cellblock?.source === 'user')

/** Follows what the server still runs. */
async function resume(turns: readonly Turn[], signal: AbortSignal): Promise<void> {
  for (const { answer } of turns) if (!hasEnded(answer) && !signal.aborted) await resumeTurn(answer, signal)
  const last = entries.value.findLast((entry) => entry.kind === 'cell')
  if (last?.kind !== 'cell' || last.run.executionId === null || signal.aborted) return
  const { status } = await call<Execution>(`/v1/executions/${last.run.executionId}`, { signal }).catch(() => ({
    status: 'succeeded' as const,
  }))
  if (isActive(status) && !signal.aborted) await resumeCell(last, signal)
}

/** Reads the list again, and the chat that is shown if another tab or device has added to it. */
export async function refreshAll(): Promise<void> {
  const { id } = currentChat.value
  await refreshChats()
  const latest = chats.value.find((chat) => chat.id === id)
  const { key, updatedAt } = currentChat.value
  if (latest === undefined || isBusy.value || currentChat.value.id !== id || latest.updatedAt <= updatedAt) return
  currentChat.value = { ...latest, key }
  await loadChat(currentChat.value)
}
