import type { BlobRef, ExecutionUsage, Lost } from '../executions/execution.ts'
import type { ExecutionFile } from '../files/file.ts'
import type { Lease } from '../lease.ts'
import { LIMITS, type MemoryTier } from '../limits.ts'
import type { MimeBundle } from '../executions/outputs.ts'
import type { Source } from '../ports/tool.ts'
import type { ResponseEvent } from '../events.ts'

export const RESPONSE_STATUSES = ['queued', 'in_progress', 'completed', 'failed', 'incomplete', 'cancelled'] as const
export type ResponseStatus = (typeof RESPONSE_STATUSES)[number]

const TERMINAL: readonly ResponseStatus[] = ['completed', 'failed', 'incomplete', 'cancelled']
export const hasResponseEnded = (status: ResponseStatus): boolean => TERMINAL.includes(status)

/**
 * The last event of a stream. OpenAI's wire has none for a cancelled response, and its clients end a stream at a type that they do not know: it
 * ends as `incomplete`, and its status says `cancelled`.
 */
export const terminalEventOf = (status: ResponseStatus): string => `response.${status === 'cancelled' ? 'incomplete' : status}`
export const TERMINAL_EVENTS: readonly string[] = [...new Set(TERMINAL.map(terminalEventOf))]

/** Whether readers may follow the response while it runs. Events of other responses are synthesized from the row after the end. */
export const hasEventStream = ({ request }: Pick<ResponseRecord, 'request'>): boolean => request.stream || request.background

/** The value of `include` with which a caller asks for events that OpenAI's wire does not have. Its schema has no such event types. */
export const EXTENSION_EVENTS = 'x_cellblock.events'

/** Whether the stream contains what code prints while it runs, and what the model did not receive. */
export const hasExtensionEvents = (response: Pick<ResponseRecord, 'request'>): boolean =>
  hasEventStream(response) && response.request.include.includes(EXTENSION_EVENTS)

/** When a response that ends now is removed, epoch ms. */
export const responseRemoval = ({ request }: Pick<ResponseRecord, 'request'>, endedAt: number): number =>
  endedAt + (request.store ? LIMITS.responseDays * 86_400_000 : LIMITS.unstoredResponseMinutes * 60_000)

/** What the caller asked for, checked by the API and kept whole. Field names are the wire's. */
export interface ResponseRequest {
  readonly model: string
  /** A string or wire items, as they came. */
  readonly input: string | readonly Readonly<Record<string, unknown>>[]
  readonly instructions: string | null
  /** Wire tools as they came; `interpreter` is what the code_interpreter tool among them means. */
  readonly tools: readonly Readonly<Record<string, unknown>>[]
  readonly toolChoice: unknown
  readonly interpreter: InterpreterRequest | null
  readonly include: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly temperature: number | null
  readonly topP: number | null
  readonly maxOutputTokens: number | null
  readonly maxToolCalls: number | null
  readonly parallelToolCalls: boolean
  readonly store: boolean
  readonly background: boolean
  readonly stream: boolean
  readonly user: string | null
  /** Fields that come back as they were sent, by their wire names; some are passed on to the model. */
  readonly echoed?: Readonly<Record<string, unknown>>
}

/** `containerId` null means `auto`: a container is made when code first runs. */
export interface InterpreterRequest {
  readonly containerId: string | null
  readonly memoryTier: MemoryTier
  readonly fileIds: readonly string[]
}

/** A place of an answer's text that names a file of a container, or a page that a tool found. */
export type Citation = FileCitation | UrlCitation
interface Place {
  readonly startIndex: number
  readonly endIndex: number
}
export interface FileCitation extends Place {
  readonly containerId: string
  readonly fileId: string
  readonly filename: string
  /** Of the link that stands there, if one does. */
  readonly linkId?: string
}
export interface UrlCitation extends Place, Source {}

export type CallStatus = 'in_progress' | 'interpreting' | 'completed' | 'incomplete' | 'failed'

/** A file with a lasting link; `linkId` is what revokes it. */
export type LinkedFile = ExecutionFile & { readonly url: string; readonly linkId?: string }

/** An image that code has shown. `objectKey` and `bytes` are absent in old rows. */
export interface CallImage {
  /** A lasting link; `linkId` is what revokes it. */
  readonly url: string
  readonly mime: string
  readonly linkId?: string
  readonly objectKey?: string
  readonly bytes?: number
  /** Only while a response is rendered; never stored. */
  readonly dataUrl?: string
}

/** What a code_interpreter_call hands back beyond its code. */
export interface CallOutcome {
  /** Null when the call never became an execution: its arguments were unusable, or it was not accepted. */
  readonly executionId: string | null
  readonly status: string
  readonly reason: string | null
  /** Text and result as the wire's `logs`, head and tail within the cap. */
  readonly logs: string
  readonly images: readonly CallImage[]
  readonly files: readonly LinkedFile[]
  readonly lost: readonly Lost[]
  readonly error: { readonly name: string; readonly value: string; readonly traceback: readonly string[] } | null
  readonly usage: ExecutionUsage | null
  /** The MIME bundles that were shown, without their big parts. */
  readonly outputs: readonly MimeBundle[]
  /** What the model reads of it. */
  readonly modelText: string
}

/** What a response has produced so far, in the order of `output_index`. */
export type ResponseItem =
  | {
      readonly type: 'code_interpreter_call'
      readonly id: string
      readonly callId: string
      readonly containerId: string
      readonly code: string
      readonly status: CallStatus
      readonly outcome: CallOutcome | null
    }
  | {
      readonly type: 'message'
      readonly id: string
      readonly status: 'in_progress' | 'completed' | 'incomplete'
      readonly text: string
      readonly citations: readonly Citation[]
      /** `commentary` goes along with tool calls of the same answer; `final_answer` ends the turn. */
      readonly phase: 'commentary' | 'final_answer' | null
      /** The model declined; `text` is what it said. */
      readonly isRefusal: boolean
    }
  | {
      readonly type: 'function_call'
      readonly id: string
      readonly callId: string
      readonly name: string
      readonly arguments: string
      readonly status: 'completed' | 'incomplete'
      /** What a tool of this server answered; null for a function of the caller, who answers it with the next request. */
      readonly output: string | null
      /** Pages that the output draws on. */
      readonly sources?: readonly Source[]
    }
  | SearchItem

/** A call of the web search, which has its own item type on the wire. */
export interface SearchItem {
  readonly type: 'web_search_call'
  readonly id: string
  readonly callId: string
  /** JSON as the model wrote it. */
  readonly arguments: string
  readonly status: 'in_progress' | 'searching' | 'completed' | 'incomplete' | 'failed'
  /** What the model reads; null until the search has ended. */
  readonly output: string | null
  readonly sources: readonly Source[]
}

/** Whether a tool of this server has this call to answer and has not yet. */
export function isOpenCall(item: ResponseItem, request: Pick<ResponseRequest, 'tools'>): boolean {
  if (item.type === 'web_search_call') return item.status === 'in_progress' || item.status === 'searching'
  if (item.type !== 'function_call' || item.status !== 'completed' || item.output !== null) return false
  return !request.tools.some((tool) => tool['type'] === 'function' && tool['name'] === item.name)
}

export interface ResponseUsage {
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
}

/** What was left out of a conversation that is longer than the model's window, at its latest call. */
export interface ContextCut {
  /** Tokens that the model was believed to take. */
  readonly windowTokens: number
  /** Tool results of which only head and tail were sent. */
  readonly trimmedResults: number
  /** Turns that were left out, each from what the user said to the last word of the answer. */
  readonly droppedTurns: number
  /** Tool calls of the present turn that were left out with their results. */
  readonly droppedCalls: number
  /** Texts, beside old results, that were too long by themselves: head and tail were sent. */
  readonly shortenedTexts: number
  /** False: there are still older turns, which were not even read. */
  readonly isHistoryWhole: boolean
}

/** Code that was submitted and has not been collected. */
export interface PendingCall {
  readonly executionId: string
  readonly containerId: string
  readonly itemIndex: number
}

/** One chat turn and all it causes. Times are epoch ms. */
export interface ResponseRecord {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly status: ResponseStatus
  readonly request: ResponseRequest
  /** Set when the request is too big for the row; `request` then has an empty input. */
  readonly requestRef: BlobRef | null
  readonly previousResponseId: string | null
  /** Whose items are its history, and to which it adds. Never together with `previousResponseId`. */
  readonly conversationId: string | null
  readonly containerId: string | null
  readonly items: readonly ResponseItem[]
  /** Set when the items are too big for the row; `items` is then empty in it. */
  readonly itemsRef: BlobRef | null
  readonly pending: PendingCall | null
  readonly toolCalls: number
  /** Tool calls in a row that failed. */
  readonly consecutiveFailures: number
  readonly usage: ResponseUsage
  readonly error: { readonly code: string; readonly message: string } | null
  readonly incompleteReason: string | null
  /** Parameters of the request that the model does not support and that were not sent to it, by their names on the wire. Absent in old rows. */
  readonly droppedParameters?: readonly string[]
  /** Null when the model read the whole conversation. */
  readonly contextCut: ContextCut | null
  readonly publicUrl: string
  /** The request that asked for it, as a W3C `traceparent`: every step of it logs that trace. */
  readonly traceparent: string | null
  readonly createdAt: number
  readonly completedAt: number | null
  readonly cancelRequestedAt: number | null
  /** Since when every step of it failed (epoch ms); null while steps succeed. */
  readonly stepsFailSince: number | null
  readonly lease: Lease | null
  readonly fence: number
  /** The row covers the events below this number; a later one in the log was written by a step that died before its commit. */
  readonly nextSeq: number
  /**
   * The holder with this fencing token released the row with every event below `nextSeq` committed, and no predecessor can append to the log: its
   * successor need not read the log.
   */
  readonly checkpointedFence?: number
  /**
   * The holder with this fencing token has submitted the pending code, and copies its output into the log only after the code has ended, or after it
   * has set another number here. Until then readers may read the output from the execution.
   */
  readonly liveOutputFence?: number
  /** The last events below `nextSeq`, kept in the row to spare a write; they follow the event log, which may have them too by now. */
  readonly tailEvents: readonly ResponseEvent[]
  readonly dueAt: number | null
}

/** Whether readers may read the output of the pending code from its execution: no step is copying it into the log. */
export const hasLiveOutput = ({ lease, fence, liveOutputFence }: ResponseRecord): boolean => lease === null || liveOutputFence === fence

/** Whether the holder of this row may continue at `nextSeq` without reading the log. The first holder has no predecessor. */
export const isCheckpointed = ({ fence, checkpointedFence }: ResponseRecord): boolean => fence === 1 || checkpointedFence === fence - 1
