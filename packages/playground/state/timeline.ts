import type { ExecutionStatus, StreamEvent, WireItem, WireResponse } from '../api/types.ts'

export interface LiveText {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** Code that runs or ran. `writing`: the model has not finished it; `unknown`: its execution says how it ended. */
export interface CodeRun {
  readonly code: string
  readonly language: string
  readonly status: 'writing' | 'unknown' | ExecutionStatus
  readonly reason: string | null
  /** What was printed so far; replaced by the execution's outputs at its end. */
  readonly live: readonly LiveText[]
  readonly executionId: string | null
  /** The text of the outputs, for a call without an execution. */
  readonly logs: string
  /** When the page saw it start, epoch ms; null for what ran before. */
  readonly startedAt: number | null
}

export type Part =
  | { readonly kind: 'text'; readonly id: string; readonly text: string }
  /** What the model thought before it answered. */
  | { readonly kind: 'thought'; readonly id: string; readonly text: string }
  | { readonly kind: 'code'; readonly id: string; readonly run: CodeRun }
  | { readonly kind: 'tool'; readonly id: string; readonly title: string; readonly detail: string }

export interface Answer {
  readonly kind: 'answer'
  readonly key: string
  readonly responseId: string | null
  readonly status: string
  readonly parts: readonly Part[]
  readonly error: string | null
  /** When the page asked and when the answer had ended, epoch ms; null for what was asked before. */
  readonly startedAt: number | null
  readonly endedAt: number | null
}

/** A file that was sent with a message. `picture` is a data URL that the model received as well. */
export interface MessageFile {
  readonly name: string
  readonly picture: string | null
}

export type Entry =
  | UserEntry
  | Answer
  | CellEntry
  /** A line of the page to the person, and to the model. */
  | { readonly kind: 'notice'; readonly key: string; readonly id: string | null; readonly text: string }

/** `id` is that of the item on the server; null until the page knows it. */
export interface UserEntry {
  readonly kind: 'user'
  readonly key: string
  readonly id: string | null
  readonly text: string
  readonly attachments: readonly MessageFile[]
}

/** Code that a person ran. `place`: the time in the id of the item whose place it has, when it was run again. */
export interface CellEntry {
  readonly kind: 'cell'
  readonly key: string
  readonly id: string | null
  readonly place?: string
  readonly run: CodeRun
}

const ENDED: readonly string[] = ['completed', 'failed', 'incomplete', 'cancelled']
export const hasEnded = (answer: Answer): boolean => ENDED.includes(answer.status)

export const newAnswer = (key: string): Answer => ({
  kind: 'answer',
  key,
  responseId: null,
  status: 'queued',
  parts: [],
  error: null,
  startedAt: null,
  endedAt: null,
})

export const newRun = (code: string, status: CodeRun['status']): CodeRun => ({
  code,
  language: 'python',
  status,
  reason: null,
  live: [],
  executionId: null,
  logs: '',
  startedAt: null,
})

const TEXT_DELTAS = ['response.output_text.delta', 'response.refusal.delta', 'response.reasoning_text.delta']

/** The answer after one more event of its stream. Events that it does not know change nothing. */
export function applyEvent(answer: Answer, event: StreamEvent): Answer {
  const { type, output_index: index = -1 } = event
  if (event.response !== undefined) return withResponse(answer, event.response)
  if (type === 'error') return { ...answer, status: 'failed', error: event.message ?? 'The turn failed.' }
  if (event.item !== undefined) return { ...answer, parts: setPart(answer.parts, index, keepLive(answer.parts[index], partOf(event.item))) }
  if (TEXT_DELTAS.includes(type))
    return changePart(answer, index, (part) =>
      part.kind === 'text' || part.kind === 'thought' ? { ...part, text: part.text + (event.delta ?? '') } : part,
    )
  if (type === 'response.code_interpreter_call_code.delta')
    return changeRun(answer, index, (run) => ({ ...run, code: run.code + (event.delta ?? '') }))
  if (type === 'response.code_interpreter_call_code.done')
    return changeRun(answer, index, (run) => ({ ...run, code: event.code ?? run.code }))
  if (type === 'response.code_interpreter_call.interpreting')
    return changeRun(answer, index, (run) => ({ ...run, status: 'running', startedAt: Date.now() }))
  const live = event.x_cellblock
  if (live?.type === 'code_interpreter_call_output' && live.text !== undefined) {
    const { stream = 'stdout', text } = live
    return changeRun(answer, live.output_index ?? -1, (run) => ({ ...run, live: addLive(run.live, { stream, text }) }))
  }
  return answer
}

function withResponse(answer: Answer, response: WireResponse): Answer {
  const isOver = ENDED.includes(response.status)
  return {
    ...answer,
    responseId: response.id,
    status: response.status,
    error: response.error?.message ?? answer.error,
    parts: isOver && response.output.length > 0 ? response.output.map((item, i) => keepLive(answer.parts[i], partOf(item))) : answer.parts,
  }
}

const changePart = (answer: Answer, index: number, change: (part: Part) => Part): Answer => {
  const part = answer.parts[index]
  return part === undefined ? answer : { ...answer, parts: answer.parts.with(index, change(part)) }
}

const changeRun = (answer: Answer, index: number, change: (run: CodeRun) => CodeRun): Answer =>
  changePart(answer, index, (part) => (part.kind === 'code' ? { ...part, run: change(part.run) } : part))

const setPart = (parts: readonly Part[], index: number, part: Part): readonly Part[] =>
  index < 0 || index > parts.length ? parts : index === parts.length ? [...parts, part] : parts.with(index, part)

/** What was printed stays visible until the outputs of the execution have been read. */
const keepLive = (before: Part | undefined, part: Part): Part =>
  part.kind === 'code' && before?.kind === 'code'
    ? { ...part, run: { ...part.run, live: before.run.live, startedAt: before.run.startedAt } }
    : part

/** Neighbouring pieces of one stream become one. */
export function addLive(live: readonly LiveText[], piece: LiveText): readonly LiveText[] {
  const last = live.at(-1)
  return last?.stream === piece.stream ? [...live.slice(0, -1), { ...last, text: last.text + piece.text }] : [...live, piece]
}

export function partOf(item: WireItem): Part {
  const id = item.id ?? ''
  switch (item.type) {
    case 'message':
      return { kind: 'text', id, text: textOf(item.content) }
    case 'reasoning':
      return { kind: 'thought', id, text: textOf([...(item.summary ?? []), ...(item.content ?? [])]) }
    case 'code_interpreter_call':
      return { kind: 'code', id, run: runOf(item) }
    case 'x_cellblock_refused':
      return { kind: 'text', id, text: item.text ?? '' }
    default:
      return { kind: 'tool', id, title: item.name ?? item.action?.query ?? 'Tool', detail: item.x_cellblock?.output ?? '' }
  }
}

function runOf(item: Extract<WireItem, { readonly type: 'code_interpreter_call' }>): CodeRun {
  const outcome = item.x_cellblock
  const status = outcome?.status ?? (item.status === 'in_progress' ? 'writing' : item.status === 'interpreting' ? 'running' : 'cancelled')
  return {
    code: item.code ?? '',
    language: 'python',
    status,
    reason: outcome?.reason ?? null,
    live: [],
    executionId: outcome?.execution_id ?? null,
    startedAt: null,
    logs: item.outputs?.map(({ logs = '' }) => logs).join('') ?? '',
  }
}

export const textOf = (content: Extract<WireItem, { readonly type: 'message' }>['content']): string =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? part.refusal ?? part.filename ?? '').join('')
