import type { ExecutionEvent } from './executions/execution-event.ts'

/** An event of a response as the wire has it: `type` and the fields of OpenAI's event, without its number. */
export interface ResponseEvent {
  readonly seq: number
  readonly at: number
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What an event of a response says, without number and time. */
export type EventPayload = Pick<ResponseEvent, 'type' | 'data'>

/**
 * What a client sends to a running command, numbered from 0: data (base64) for its standard input, the end of it, a signal, a size. `total` counts the
 * characters of data up to and with this event.
 */
export type CommandInputEvent = { readonly seq: number; readonly at: number; readonly total: number } & CommandInputPayload
export type CommandInputPayload =
  | { readonly type: 'stdin'; readonly data: string }
  | { readonly type: 'close' }
  | { readonly type: 'signal'; readonly signal: number }
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }

export type AnyEvent = ExecutionEvent | ResponseEvent | CommandInputEvent

/** Events written together. `sourceSeq` is the last supervisor event that went into it, so that a successor continues after it. */
export interface EventBatch<E = AnyEvent> {
  readonly firstSeq: number
  readonly events: readonly E[]
  readonly fence: number
  readonly sourceSeq: number | null
}

/** The owner of an event log: an execution, a response, or the input of a command. */
export type EventOwner = { readonly kind: 'execution' | 'response' | 'input'; readonly tenant: string; readonly id: string }

/** The number of the first event in a log. Event 0 of an execution is its status `queued`, which readers derive from the row. */
export const FIRST_LOGGED_SEQ: Readonly<Record<EventOwner['kind'], number>> = { execution: 1, response: 0, input: 0 }

/** The name under which a waiter listens for changes of a row. */
export const topicOf = (kind: EventOwner['kind'], id: string): string => `${kind}:${id}`
