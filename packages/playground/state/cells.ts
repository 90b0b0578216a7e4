import { call, messageOf } from '../api/call.ts'
import type { Execution, ExecutionStatus } from '../api/types.ts'
import { changeChat, currentChat, ensureChat, NEW_TITLE, type Chat } from './chats.ts'
import { addEntries, connection, entries, isBusy, leaveSignal, paintLater, setEntry, stopRun } from './conversation.ts'
import { followEvents } from './follow.ts'
import { codeTitle } from './title.ts'
import { ulidOf } from './history-entries.ts'
import { addLive, newRun, type CellEntry, type CodeRun } from './timeline.ts'
import { endTurn } from './turns.ts'
import { takeAttachments, uploadsEnd } from './attachments.ts'
import { ensureContainer, withReplacements } from './workspace.ts'

export const isActive = (status: CodeRun['status']): boolean => ['writing', 'queued', 'starting', 'running'].includes(status)

/** Runs code in the chat's container, without a model. `replaces`: the cell whose place it takes. */
export async function runCell(code: string, language: string, replaces?: CellEntry): Promise<void> {
  const signal = leaveSignal()
  const chat = currentChat.value
  const entry: CellEntry = {
    kind: 'cell',
    key: replaces?.key ?? crypto.randomUUID(),
    id: null,
    ...(replaces !== undefined && { place: replaces.place ?? ulidOf(replaces.id) }),
    run: { ...newRun(code, 'queued'), language, startedAt: Date.now() },
  }
  if (replaces === undefined) addEntries(entry)
  else setEntry(entry.key, entry)
  isBusy.value = true
  takeAttachments()
  try {
    if (chat.title === NEW_TITLE) await withReplacements(chat, () => changeChat(chat, { title: codeTitle(code) }))
    const execution = await withReplacements(chat, () => start(chat, entry))
    const id = await record(chat, { ...entry, run: { ...entry.run, executionId: execution.id } }, replaces)
    await followCell({ ...entry, id, run: { ...entry.run, executionId: execution.id } }, signal)
  } catch (error) {
    if (signal.aborted) return
    const run: CodeRun = { ...entry.run, status: 'failed', logs: messageOf(error) }
    setEntry(entry.key, { ...entry, run, id: await record(chat, { ...entry, run }, replaces) })
  }
  endTurn()
}

async function start(chat: Chat, { key, run: { code, language } }: CellEntry): Promise<Execution> {
  await ensureChat(chat)
  const containerId = await ensureContainer(chat)
  await uploadsEnd()
  return call<Execution>(`/v1/containers/${containerId}/executions?wait=0`, {
    body: { code, language },
    headers: { 'idempotency-key': `${key}-${crypto.randomUUID()}` },
  })
}

/** Keeps the cell in the conversation, where the model sees it too. Returns the id of its item; null when it could not be kept. */
async function record(chat: Chat, { run, place }: CellEntry, replaces?: CellEntry): Promise<string | null> {
  try {
    const item = {
      type: 'code_interpreter_call',
      code: run.code,
      container_id: currentChat.value.containerId ?? '',
      status: 'completed',
      outputs: run.logs === '' ? null : [{ type: 'logs', logs: run.logs }],
      x_cellblock: {
        execution_id: run.executionId,
        status: run.status,
        reason: null,
        source: 'user',
        language: run.language,
        ...(place && { place }),
      },
    }
    const itemsPath = async (): Promise<string> => `/v1/conversations/${await ensureChat(chat)}/items`
    const { data } = await withReplacements(chat, async () =>
      call<{ readonly data: readonly { readonly id: string }[] }>(await itemsPath(), { body: { items: [item] } }),
    )
    if ((replaces?.id ?? null) !== null) await call(`${await itemsPath()}/${replaces?.id}`, { method: 'DELETE' }).catch(() => undefined)
    return data[0]?.id ?? null
  } catch {
    return null
  }
}

/** Continues to show a cell that runs on the server. */
export async function resumeCell(entry: CellEntry, signal: AbortSignal): Promise<void> {
  isBusy.value = true
  await followCell({ ...entry, run: { ...entry.run, status: 'running' } }, signal).catch(() => undefined)
  if (!signal.aborted) endTurn()
}

async function followCell(entry: CellEntry, signal: AbortSignal): Promise<void> {
  const { executionId: id } = entry.run
  if (id === null) return
  // Without its id the view shows what is printed instead of the result.
  let run: CodeRun = { ...entry.run, executionId: null }
  const painter = paintLater(() => setEntry(entry.key, { ...entry, run }))
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
}

function applyCellEvent(run: CodeRun, event: string, fields: { readonly text?: string; readonly status?: ExecutionStatus }): CodeRun {
  if ((event === 'stdout' || event === 'stderr') && fields.text !== undefined)
    return { ...run, live: addLive(run.live, { stream: event, text: fields.text }) }
  return fields.status === undefined ? run : { ...run, status: fields.status }
}

/** Runs every cell of the chat again, from the first on, and stops at one that fails. */
export async function runAll(): Promise<void> {
  for (const { key } of entries.value.filter((entry) => entry.kind === 'cell')) {
    const cell = entries.value.find((entry) => entry.key === key)
    if (cell?.kind !== 'cell') continue
    await runCell(cell.run.code, cell.run.language, cell)
    const ended = entries.value.find((entry) => entry.key === key)
    if (ended?.kind !== 'cell' || ended.run.status !== 'succeeded') return
  }
}
