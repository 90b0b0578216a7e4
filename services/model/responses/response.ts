import type { BlobRef } from '../executions/execution.ts'
import type { Lease } from '../lease.ts'
import { LIMITS, type MemoryTier } from '../limits.ts'
import type { NetworkPolicy } from '../network/policy.ts'
import type { ContainerSkill } from '../skills/skill.ts'
import type { ResponseEvent } from '../events.ts'
import type { ResponseItem } from './items/item-types.ts'

export const RESPONSE_STATUSES = ['queued', 'in_progress', 'completed', 'failed', 'incomplete', 'cancelled'] as const
export type ResponseStatus = (typeof RESPONSE_STATUSES)[number]

const TERMINAL: readonly ResponseStatus[] = ['completed', 'failed', 'incomplete', 'cancelled']
export const hasResponseEnded = (status: ResponseStatus): boolean => TERMINAL.includes(status)

/**
 * The last event of a stream. OpenAI's wire has none for a cancelled response, and its clients end a stream at an unknown type. A cancelled response
 * therefore ends with `incomplete` and status `cancelled`.
 */
export const terminalEventOf = (status: ResponseStatus): string => `response.${status === 'cancelled' ? 'incomplete' : status}`
export const TERMINAL_EVENTS: readonly string[] = [...new Set(TERMINAL.map(terminalEventOf))]

/** Whether readers may follow the response while it runs. Events of other responses are synthesized from the row after the end. */
export const hasEventStream = ({ request }: Pick<ResponseRecord, 'request'>): boolean => request.stream || request.background

/** The value of `include` that requests Cellblock's own events, which OpenAI's schema does not have. */
export const EXTENSION_EVENTS = 'x_cellblock.events'

/** Whether the stream contains live output of code, and reports of truncated conversations. */
export const hasExtensionEvents = (response: Pick<ResponseRecord, 'request'>): boolean =>
  hasEventStream(response) && response.request.include.includes(EXTENSION_EVENTS)

/** When a response that ended at this time is removed, epoch ms; `days` is the tenant's retention of stored ones. */
export const responseRemoval = (
  { request }: Pick<ResponseRecord, 'request'>,
  endedAt: number,
  days: number = LIMITS.responseDays,
): number => endedAt + (request.store ? days * 86_400_000 : LIMITS.unstoredResponseMinutes * 60_000)

/** The complete request, checked by the API. Field names are those of the wire. */
export interface ResponseRequest {
  readonly model: string
  /** A string or the wire's items, as in the request. */
  readonly input: string | readonly Readonly<Record<string, unknown>>[]
  readonly instructions: string | null
  /** The wire's tools, as in the request; `interpreter` is the parsed code_interpreter tool. */
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
  /**
   * `compaction`: the answer is a summary of the conversation, and no response that can be read. `preparation`: the response ends without an answer, and a
   * later one continues from its input. Absent: a turn.
   */
  readonly purpose?: 'compaction' | 'preparation'
  /** The wire has no place for pictures, so the model learns that it must link them as files. */
  readonly hidesPictures?: boolean
  /** Fields that the answer repeats, by their wire names; some are passed on to the model. */
  readonly echoed?: Readonly<Record<string, unknown>>
}

/** `containerId` null means `auto`: a container is created when code first runs. */
export interface InterpreterRequest {
  readonly containerId: string | null
  readonly memoryTier: MemoryTier
  readonly fileIds: readonly string[]
  /** For the container, with the bundles to copy. Absent for none. */
  readonly skills?: readonly ContainerSkill[]
  /** The container is for the shell only: no interpreter is offered. Absent in old rows. */
  readonly isShellOnly?: boolean
  /** What the container may reach, as the request says; its secrets are stored for the response until the container has them. */
  readonly network?: NetworkPolicy
  /** What a new container may reach when the request says nothing. */
  readonly defaultNetwork?: NetworkPolicy
}

export interface ResponseUsage {
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
}

/** The omitted parts of a conversation that exceeds the model's context window, at its latest call. */
export interface ContextCut {
  /** The assumed context window of the model, tokens. */
  readonly windowTokens: number
  /** Tool results of which only head and tail were sent. */
  readonly trimmedResults: number
  /** Omitted turns, each with the user's message and the whole answer. */
  readonly droppedTurns: number
  /** Omitted tool calls of the present turn, with their results. */
  readonly droppedCalls: number
  /** Other texts that were too long; head and tail were sent. */
  readonly shortenedTexts: number
  /** False: older turns exist and were not read. */
  readonly isHistoryWhole: boolean
}

/** A job of a call in the container: its result has not been recorded. */
export interface PendingCall {
  readonly executionId: string
  readonly containerId: string
  /** The call. */
  readonly itemIndex: number
  /** The item that shows what the job prints: the call, or a separate item. */
  readonly outputIndex: number
  /** Which of the call's jobs. */
  readonly jobIndex: number
}

/** One chat turn. Times are epoch ms. */
export interface ResponseRecord {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly status: ResponseStatus
  readonly request: ResponseRequest
  /** Set when the request is too large for the row; `request` then has an empty input. */
  readonly requestRef: BlobRef | null
  readonly previousResponseId: string | null
  /** The conversation whose items are its history and to which it adds items. Never together with `previousResponseId`. */
  readonly conversationId: string | null
  readonly containerId: string | null
  readonly items: readonly ResponseItem[]
  /** Set when the items are too large for the row; the row's `items` is then empty. */
  readonly itemsRef: BlobRef | null
  readonly pending: PendingCall | null
  readonly toolCalls: number
  /** Number of consecutive failed tool calls. */
  readonly consecutiveFailures: number
  readonly usage: ResponseUsage
  readonly error: { readonly code: string; readonly message: string } | null
  readonly incompleteReason: string | null
  /** Parameters that the model does not support and that were not sent to it, by their wire names. Absent in old rows. */
  readonly droppedParameters?: readonly string[]
  /** Null when the model read the whole conversation. */
  readonly contextCut: ContextCut | null
  readonly publicUrl: string
  /** W3C `traceparent` of the request; every step logs that trace. */
  readonly traceparent: string | null
  readonly createdAt: number
  readonly completedAt: number | null
  readonly cancelRequestedAt: number | null
  /** Since when every step has failed (epoch ms); null when the last step succeeded. */
  readonly stepsFailSince: number | null
  readonly lease: Lease | null
  readonly fence: number
  /** The row includes the events below this number. A step that crashed before its commit may have written later ones to the log. */
  readonly nextSeq: number
  /**
   * The holder with this fencing token released the row with every event below `nextSeq` committed, and no predecessor can append to the log: its
   * successor need not read the log.
   */
  readonly checkpointedFence?: number
  /**
   * The holder with this fencing token has submitted the pending job, and copies its output into the log only after the job has ended, or after it
   * has set another number here. Until then readers may read the output from the execution.
   */
  readonly liveOutputFence?: number
  /** The last events below `nextSeq`, stored in the row to save a write. They follow the event log, which may contain them as well. */
  readonly tailEvents: readonly ResponseEvent[]
  readonly dueAt: number | null
}

/** Whether readers may read the output of the pending code from its execution: no step is copying it into the log. */
export const hasLiveOutput = ({ lease, fence, liveOutputFence }: ResponseRecord): boolean => lease === null || liveOutputFence === fence

/** Whether the holder of this row may continue at `nextSeq` without reading the log. The first holder has no predecessor. */
export const isCheckpointed = ({ fence, checkpointedFence }: ResponseRecord): boolean => fence === 1 || checkpointedFence === fence - 1
