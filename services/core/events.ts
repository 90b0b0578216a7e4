import type { ExecutionFile } from './files/file.ts'
import type { Output } from './executions/outputs.ts'

/** An immutable, numbered fact about an execution. Numbers are consecutive from 0; `done` is the last. */
export type ExecutionEvent = { readonly seq: number; readonly at: number } & ExecutionEventPayload
export type ExecutionEventPayload =
  | { readonly type: 'status'; readonly status: string }
  | { readonly type: 'stdout' | 'stderr'; readonly cell: number; readonly text: string }
  | { readonly type: 'output'; readonly cell: number; readonly output: Output; readonly displayId?: string; readonly replaces?: boolean }
  | { readonly type: 'clear'; readonly cell: number; readonly wait: boolean }
  | { readonly type: 'file'; readonly file: ExecutionFile }
  | { readonly type: 'lost'; readonly what: string; readonly reason: string }
  | { readonly type: 'done'; readonly status: string; readonly reason: string | null }

/** An event of a response as the wire has it: `type` and the fields of OpenAI's event, without its number. */
export interface ResponseEvent {
  readonly seq: number
  readonly at: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What an event of a response says, without number and time. */
export type EventPayload = Pick<ResponseEvent, 'type' | 'data'>

/** What a client sends to a running command, numbered from 0: data (base64) for its standard input, the end of it, a signal, a size. */
export type CommandInputEvent = { readonly seq: number; readonly at: number } & CommandInputPayload
export type CommandInputPayload =
  | { readonly type: 'stdin'; readonly data: string }
  | { readonly type: 'close' }
  | { readonly type: 'signal'; readonly signal: number }
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }

export type AnyEvent = ExecutionEvent | ResponseEvent | CommandInputEvent

/** Events written together. `sourceSeq` is the last supervisor event that went into it, so that a successor reads on from there. */
export interface EventBatch<E = AnyEvent> {
  readonly firstSeq: number
  readonly events: readonly E[]
  readonly fence: number
  readonly sourceSeq: number | null
}

/** The events of a row live under it: one log per execution and per response, and one for the input of each command. */
export type EventOwner = { readonly kind: 'execution' | 'response' | 'input'; readonly tenant: string; readonly id: string }

/** The number of the first event in a log. Event 0 of an execution is its status `queued`, which readers derive from the row. */
export const FIRST_LOGGED_SEQ: Readonly<Record<EventOwner['kind'], number>> = { execution: 1, response: 0, input: 0 }

/** The name under which a waiter listens for changes of a row. */
export const topicOf = (kind: EventOwner['kind'], id: string): string => `${kind}:${id}`
