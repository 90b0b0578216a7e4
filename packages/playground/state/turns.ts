import { ApiError, call, messageOf, send } from '../api/call.ts'
import { readEvents } from '../api/read-events.ts'
import type { StreamEvent, WireItem } from '../api/types.ts'
import { changeChat, currentChat, ensureChat, NEW_TITLE, refreshAfterChange, type Chat } from './chats.ts'
import { addEntries, connection, entries, failAnswer, isBusy, leaveSignal, paintLater, setEntry, stopRun } from './conversation.ts'
import { followEvents } from './follow.ts'
import { loadChoices } from './models.ts'
import { model } from './preferences.ts'
import { titleOf } from './title.ts'
import { applyEvent, hasEnded, newAnswer, type Answer, type Entry, type MessageFile } from './timeline.ts'
import { takeAttachments, uploadsEnd } from './attachments.ts'
import { ATTACHED } from './history-entries.ts'
import { ensureContainer, refreshFiles, withReplacements } from './workspace.ts'

/** Sends a message and shows the answer as it comes. `attachments`: those of a message that is sent again, instead of the composer's. */
export async function ask(
  text: string,
  options: { readonly model?: string; readonly attachments?: readonly MessageFile[] } = {},
): Promise<void> {
  const chat = currentChat.value
  const signal = leaveSignal()
  const attachments = options.attachments ?? takeAttachments()
  const answer = { ...newAnswer(crypto.randomUUID()), startedAt: Date.now() }
  const user: Entry = { kind: 'user', key: crypto.randomUUID(), id: null, text, attachments }
  addEntries(user, answer)
  isBusy.value = true
  try {
    // A message can be sent before the page knows the models.
    if (model.value === '') await loadChoices()
    if (chat.title === NEW_TITLE) await withReplacements(chat, () => changeChat(chat, { title: titleOf(text) }))
    const message = { text, attachments, model: options.model ?? model.value, signal }
    const first = await withReplacements(chat, () => sendMessage(chat, message))
    await followTurn({ first, responseId: null }, { started: answer, signal })
  } catch (error) {
    if (signal.aborted) return
    failAnswer(answer, messageOf(error))
    await recordRefusal(chat, text, messageOf(error))
  }
  endTurn()
}

interface Message {
  readonly text: string
  readonly attachments: readonly MessageFile[]
  readonly model: string
  readonly signal: AbortSignal
}

async function sendMessage(chat: Chat, { text, attachments, model: chosen, signal }: Message): Promise<Response> {
  const conversation = await ensureChat(chat)
  const container = await ensureContainer(chat)
  await uploadsEnd()
  return send('/v1/responses', {
    signal,
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: {
      model: chosen,
      input: [{ role: 'user', content: contentOf(text, attachments) }],
      conversation,
      tools: [{ type: 'code_interpreter', container }],
      include: ['code_interpreter_call.outputs', 'x_cellblock.events'],
      stream: true,
      // The turn continues when this page goes away, and can be stopped.
      background: true,
    },
  })
}

/** The pictures go to the model itself; code finds them, and every other file, in its folder. */
const contentOf = (text: string, attachments: readonly MessageFile[]): readonly unknown[] => [
  { type: 'input_text', text },
  ...(attachments.length === 0 ? [] : [{ type: 'input_text', text: ATTACHED + attachments.map(({ name }) => name).join(', ') }]),
  ...attachments.flatMap(({ picture }) => (picture === null ? [] : [{ type: 'input_image', image_url: picture }])),
]

/** A question that the server did not accept stays in the history. The model never sees items of this type. */
async function recordRefusal(chat: Chat, text: string, error: string): Promise<void> {
  const id = currentChat.value.key === chat.key ? currentChat.value.id : chat.id
  if (id === null) return
  await call(`/v1/conversations/${id}/items`, { body: { items: [{ type: 'x_cellblock_refused', text, error }] } }).catch(() => undefined)
}

/** Shows a turn that runs, or that ended without completion, from its stored stream. Null when the server has no such response any more. */
export async function replayTurn(responseId: string, signal: AbortSignal): Promise<Answer | null> {
  let answer = newAnswer(responseId)
  try {
    const { status } = await call<{ readonly status: string }>(`/v1/responses/${responseId}`, { signal })
    if (!hasEnded({ ...answer, status })) return { ...answer, responseId, status }
    const response = await send(`/v1/responses/${responseId}?stream=true`, { signal, headers: { accept: 'text/event-stream' } })
    await readEvents(response, ({ data }) => {
      if (data !== '[DONE]') answer = applyEvent(answer, JSON.parse(data) as StreamEvent)
    })
    return { ...answer, responseId, status }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** What a person said in a turn whose items are not in the conversation. */
export const inputOf = async (responseId: string, signal: AbortSignal): Promise<readonly WireItem[]> =>
  (await call<{ readonly data: readonly WireItem[] }>(`/v1/responses/${responseId}/input_items?order=asc`, { signal })).data

/** Continues a turn that runs on the server. */
export async function resumeTurn(answer: Answer, signal: AbortSignal): Promise<void> {
  isBusy.value = true
  try {
    await followTurn({ first: null, responseId: answer.responseId }, { started: answer, signal })
  } catch (error) {
    if (signal.aborted) return
    failAnswer(answer, messageOf(error))
  }
  endTurn()
}

interface TurnStart {
  /** The stream of the request itself; null when the page resumes a turn. */
  readonly first: Response | null
  readonly responseId: string | null
}

async function followTurn(
  { first, responseId }: TurnStart,
  { started, signal }: { readonly started: Answer; readonly signal: AbortSignal },
): Promise<void> {
  let answer = started
  let last = -1
  let id = responseId
  const painter = paintLater(() => setEntry(started.key, answer))
  const stopBy = (known: string): void => {
    stopRun.value = async () => void (await call(`/v1/responses/${known}/cancel`, { method: 'POST' }))
  }
  if (id !== null) stopBy(id)
  const onEvent = ({ data }: { readonly data: string }): void => {
    if (data === '[DONE]' || signal.aborted) return
    const event = JSON.parse(data) as StreamEvent
    if (event.sequence_number <= last) return
    last = event.sequence_number
    answer = applyEvent(answer, event)
    if (id === null && answer.responseId !== null) stopBy((id = answer.responseId))
    painter.request()
  }
  if (first !== null) await readEvents(first, onEvent).catch(() => signal.throwIfAborted())
  if (id === null) throw new ApiError(0, 'connection_lost', 'The connection broke before the turn began. Try again.')
  await followEvents({
    address: () => `/v1/responses/${id}?stream=true&starting_after=${last}`,
    hasEnded: () => hasEnded(answer),
    onEvent,
    onConnection: (state) => void (connection.value = state),
    signal,
  })
  answer = { ...answer, endedAt: Date.now() }
  painter.flush()
}

export function endTurn(): void {
  connection.value = 'open'
  isBusy.value = false
  stopRun.value = null
  void refreshFiles()
  void refreshAfterChange()
}

/** Removes a message and everything after it, on the server too. */
export async function rewindTo(key: string): Promise<void> {
  const chat = currentChat.value
  const at = entries.value.findIndex((entry) => entry.key === key)
  if (at === -1 || chat.id === null) return
  const removed = entries.value.slice(at)
  entries.value = entries.value.slice(0, at)
  const remove = (path: string): Promise<unknown> => call(path, { method: 'DELETE' }).catch(() => undefined)
  for (const [index, entry] of removed.entries()) {
    const next = removed[index + 1]
    const answered = next?.kind === 'answer' ? next.responseId : null
    const ids =
      entry.kind === 'answer' ? entry.parts.map(({ id }) => id) : [entry.id ?? (entry.kind === 'user' ? inputItemId(answered) : null)]
    for (const id of ids) if (id !== null && id !== '') await remove(`/v1/conversations/${chat.id}/items/${id}`)
    if (entry.kind === 'answer' && entry.responseId !== null && entry.status !== 'completed')
      await remove(`/v1/responses/${entry.responseId}`)
  }
}

/** The id that the server gave to the message of a turn. */
const inputItemId = (responseId: string | null): string | null =>
  responseId === null ? null : `msg_${responseId.slice(responseId.indexOf('_') + 1)}_0`

/** Asks the question before an answer again, in its place. */
export async function regenerate(answer: Answer, chosen?: string): Promise<void> {
  const at = entries.value.findIndex(({ key }) => key === answer.key)
  const question = entries.value[at - 1]
  if (question?.kind !== 'user' || isBusy.value) return
  isBusy.value = true
  await rewindTo(question.key)
  await ask(question.text, { attachments: question.attachments, ...(chosen !== undefined && { model: chosen }) })
}
