import { signal } from '@preact/signals'
import { ApiError, call, messageOf, send } from '../api/call.ts'
import { readEvents } from '../api/read-events.ts'
import type { Execution, ExecutionStatus, List, StreamEvent, WireItem } from '../api/types.ts'
import { changeChat, currentChat, type StoredChat } from './chat-store.ts'
import { followEvents } from './follow.ts'
import { model } from './preferences.ts'
import { addLive, applyEvent, entriesOf, hasEnded, newAnswer, newRun, type Answer, type CodeRun, type Entry } from './timeline.ts'
import { ensureContainer, refreshContainers, refreshFiles, uploadsEnd } from './workspace.ts'

/** Streamed text is shown this often, milliseconds. */
const PAINT_MS = 40
const MAX_TITLE = 60

export const entries = signal<readonly Entry[]>([])
export const connection = signal<'open' | 'lost'>('open')
export const isBusy = signal(false)
export const historyFailure = signal<string | null>(null)
/** Ends what runs now; null when nothing can be stopped. */
export const stopRun = signal<(() => Promise<void>) | null>(null)

/** Ends the page's reading of the chat that is left; the turn itself continues on the server. */
let leaving = new AbortController()
let itemCount = 0

const setEntry = (key: string, entry: Entry): void => {
  entries.value = entries.value.map((one) => (one.key === key ? entry : one))
}

/** Shows a chat: its history from the server, its cells, and a turn that still runs. */
export async function loadChat(chat: StoredChat): Promise<void> {
  leaving.abort()
  leaving = new AbortController()
  const { signal } = leaving
  entries.value = []
  isBusy.value = false
  stopRun.value = null
  connection.value = 'open'
  historyFailure.value = null
  void refreshFiles()
  try {
    const items = chat.conversationId === null ? [] : await readItems(chat.conversationId)
    if (signal.aborted) return
    itemCount = items.length
    entries.value = withCells(items, chat)
    if (chat.turn !== null) await resumeTurn(chat.turn, signal)
  } catch (error) {
    if (signal.aborted) return
    // A turn that ended is in the history already; a conversation that was deleted has none.
    if (error instanceof ApiError && error.code === 'response_not_found') changeChat(chat.id, { turn: null })
    else historyFailure.value = messageOf(error)
    isBusy.value = false
  }
}

async function readItems(conversationId: string): Promise<WireItem[]> {
  const items: WireItem[] = []
  for (let after = ''; ;) {
    const page = await call<List<WireItem>>(
      `/v1/conversations/${conversationId}/items?limit=100&order=asc&include[]=code_interpreter_call.outputs${after}`,
    )
    items.push(...page.data)
    if (!page.has_more || page.last_id === null) return items
    after = `&after=${page.last_id}`
  }
}

/** Cells stand where they were run: after the items that the conversation had then. */
function withCells(items: readonly WireItem[], chat: StoredChat): Entry[] {
  const result: Entry[] = []
  let from = 0
  for (const cell of chat.cells) {
    const to = Math.min(Math.max(cell.afterItems, from), items.length)
    result.push(...entriesOf(items.slice(from, to)))
    from = to
    result.push({
      kind: 'cell',
      key: cell.executionId,
      run: { ...newRun(cell.code, 'succeeded'), language: cell.language ?? 'python', executionId: cell.executionId },
    })
  }
  return [...result, ...entriesOf(items.slice(from))]
}

const titleOf = (text: string): string => {
  const line =
    text
      .replaceAll(/```[\s\S]*?(?:```|$)/g, ' ')
      .trim()
      .split('\n')[0]
      ?.trim() ?? ''
  return shortened(line === '' ? 'Code' : line)
}

const shortened = (line: string): string => (line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).trimEnd()}…`)

/** Sends a message and shows the answer as it comes. */
export async function ask(text: string): Promise<void> {
  const { signal } = leaving
  const chat = currentChat.value
  const answer = newAnswer(crypto.randomUUID())
  entries.value = [...entries.value, { kind: 'user', key: crypto.randomUUID(), text }, answer]
  isBusy.value = true
  if (chat.title === 'New chat') changeChat(chat.id, { title: titleOf(text) })
  try {
    const containerId = await ensureContainer()
    await uploadsEnd()
    const conversation = await ensureConversation(chat)
    const response = await send('/v1/responses', {
      signal,
      headers: { 'idempotency-key': crypto.randomUUID() },
      body: {
        model: model.value,
        input: text,
        conversation,
        tools: [{ type: 'code_interpreter', container: containerId }],
        include: ['code_interpreter_call.outputs', 'x_cellblock.events'],
        stream: true,
        // The turn continues when this page goes away, and can be stopped.
        background: true,
      },
    })
    await followTurn(chat.id, { first: response, input: text, responseId: null }, { started: answer, signal })
  } catch (error) {
    if (signal.aborted) return
    setEntry(answer.key, { ...answer, status: 'failed', error: messageOf(error) })
    endRun()
  }
}

async function resumeTurn(turn: NonNullable<StoredChat['turn']>, signal: AbortSignal): Promise<void> {
  const response = await call<{ readonly status: string }>(`/v1/responses/${turn.responseId}`)
  const chat = currentChat.value
  if (hasEnded({ ...newAnswer(''), status: response.status })) {
    changeChat(chat.id, { turn: null })
    return
  }
  const answer = newAnswer(turn.responseId)
  entries.value = [...entries.value, { kind: 'user', key: `${turn.responseId}-input`, text: turn.input }, answer]
  isBusy.value = true
  await followTurn(chat.id, { first: null, input: turn.input, responseId: turn.responseId }, { started: answer, signal })
}

async function ensureConversation(chat: StoredChat): Promise<string> {
  if (chat.conversationId !== null) return chat.conversationId
  const { id } = await call<{ readonly id: string }>('/v1/conversations', { body: {} })
  changeChat(chat.id, { conversationId: id })
  return id
}

interface TurnStart {
  /** The stream of the request itself; null when the page resumes a turn. */
  readonly first: Response | null
  readonly input: string
  readonly responseId: string | null
}

async function followTurn(
  chatId: string,
  { first, input, responseId }: TurnStart,
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
    if (id === null && answer.responseId !== null) {
      id = answer.responseId
      changeChat(chatId, { turn: { responseId: id, input } })
      stopBy(id)
    }
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
  connection.value = 'open'
  painter.flush()
  itemCount += 1 + answer.parts.length
  changeChat(chatId, { turn: null })
  endRun()
}

function endRun(): void {
  isBusy.value = false
  stopRun.value = null
  void refreshFiles()
  void refreshContainers()
}

/** Runs code in the chat's container, without a model. */
export async function runCell(code: string, language: string): Promise<void> {
  const { signal } = leaving
  const chat = currentChat.value
  const key = crypto.randomUUID()
  let run: CodeRun = { ...newRun(code, 'queued'), language }
  entries.value = [...entries.value, { kind: 'cell', key, run }]
  isBusy.value = true
  const painter = paintLater(() => setEntry(key, { kind: 'cell', key, run }))
  try {
    if (chat.title === 'New chat') changeChat(chat.id, { title: shortened(code.trim().split('\n')[0] ?? 'Code') })
    const containerId = await ensureContainer()
    await uploadsEnd()
    const { id } = await call<Execution>(`/v1/containers/${containerId}/executions?wait=0`, {
      body: { code, language },
      headers: { 'idempotency-key': key },
    })
    changeChat(chat.id, { cells: [...currentChat.value.cells, { executionId: id, code, language, afterItems: itemCount }] })
    stopRun.value = async () => void (await call(`/v1/executions/${id}/cancel`, { method: 'POST' }))
    let last = -1
    let isOver = false
    await followEvents({
      address: () => `/v1/executions/${id}/events?after=${last}`,
      hasEnded: () => isOver,
      onEvent: ({ event, data }) => {
        const fields = JSON.parse(data) as { readonly seq: number; readonly text?: string; readonly status?: ExecutionStatus }
        last = fields.seq
        run = applyCellEvent(run, event, fields)
        isOver = event === 'done'
        painter.request()
      },
      onConnection: (state) => void (connection.value = state),
      signal,
    })
    run = { ...run, executionId: id }
    painter.flush()
  } catch (error) {
    if (signal.aborted) return
    run = { ...run, status: 'failed', logs: messageOf(error) }
    painter.flush()
  }
  connection.value = 'open'
  endRun()
}

function applyCellEvent(run: CodeRun, event: string, fields: { readonly text?: string; readonly status?: ExecutionStatus }): CodeRun {
  if ((event === 'stdout' || event === 'stderr') && fields.text !== undefined)
    return { ...run, live: addLive(run.live, { stream: event, text: fields.text }) }
  return fields.status === undefined ? run : { ...run, status: fields.status }
}

/** Draws at most every PAINT_MS, however fast text comes. */
function paintLater(paint: () => void): { request(): void; flush(): void } {
  let timer: ReturnType<typeof setTimeout> | null = null
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    paint()
  }
  return { request: () => void (timer ??= setTimeout(flush, PAINT_MS)), flush }
}
