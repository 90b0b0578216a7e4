import type { ExecutionEvent } from './execution-event.ts'
import type { ExecutionFile } from '../files/file.ts'
import type { ExecutionLanguage } from './language.ts'
import type { Lease } from '../lease.ts'
import type { CellResult, ExecutionError } from './outputs.ts'

export const EXECUTION_STATUSES = ['queued', 'starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'] as const
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number]

export const EXECUTION_REASONS = [
  'error',
  'oom',
  'kernel_died',
  'output_limit',
  'disk_full',
  'sandbox_lost',
  'dead_letter',
  'deadline',
  'cpu_limit',
  'caller',
] as const
export type ExecutionReason = (typeof EXECUTION_REASONS)[number]

/** A terminal status has no successor, so a late message cannot change a finished execution. */
const SUCCESSORS: Record<ExecutionStatus, readonly ExecutionStatus[]> = {
  queued: ['starting', 'running', 'failed', 'timed_out', 'cancelled'],
  starting: ['running', 'queued', 'failed', 'timed_out', 'cancelled'],
  // Back to `starting` only if the sandbox has received no byte of the code.
  running: ['starting', 'succeeded', 'failed', 'timed_out', 'cancelled'],
  succeeded: [],
  failed: [],
  timed_out: [],
  cancelled: [],
}
export const canMove = (from: ExecutionStatus, to: ExecutionStatus): boolean => SUCCESSORS[from].includes(to)
export const hasEnded = (status: ExecutionStatus): boolean => SUCCESSORS[status].length === 0

/** The object that contains a document that is too large for the row. */
export interface BlobRef {
  readonly objectKey: string
  readonly bytes: number
}

export type ExecutionSource =
  | { readonly kind: 'code'; readonly code: string }
  /** The code cells of a notebook in order; `notebook` is the document as it was sent. */
  | { readonly kind: 'notebook'; readonly cells: readonly { readonly index: number; readonly code: string }[]; readonly notebook: BlobRef }
  /** Code that is too large for the row. */
  | { readonly kind: 'blob'; readonly code: BlobRef }
  | CommandSource

/** A program that runs beside the kernel. A row with this source is a command: its id starts with `cmd_`, and it does not wait in the container's queue. */
export interface CommandSource {
  readonly kind: 'command'
  /** The program and its arguments; the first ones, cut, where they are too large for the row. */
  readonly argv: readonly string[]
  /** The arguments as JSON, where they are too large for the row. */
  readonly storedArgv?: BlobRef
  /** The whole standard input as base64; null for none. */
  readonly stdin: string | null
  /** The input accepts more data until a client closes it. */
  readonly hasOpenInput: boolean
  /** Size of its terminal in characters; null for separate output streams. */
  readonly pty: TerminalSize | null
  /** A client follows its output as it is printed, so the event log keeps a longer head of it. */
  readonly isFollowed?: true
  /** It does not keep the container awake. */
  readonly isBackground: boolean
}

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

/** Variables and folder of one execution. `cwd` is relative to `/mnt/data` or absolute. */
export interface ExecutionScope {
  /** Names the namespace of code, which has its own variables and begins in `cwd`; absent for that of the container. */
  readonly context?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Something that a client could expect in a result and that is missing, with the reason. */
export interface Lost {
  readonly what: string
  readonly reason: string
}

/** Ends the name of something that only the result lacks, and not the event log. */
export const IN_RESULT = ' in the result'

export interface ExecutionUsage {
  readonly queueMs: number
  readonly startMs: number
  readonly runMs: number
  readonly cpuMs: number
  /** As in the supervisor's envelope: what the account used since the last report of this sandbox. */
  readonly sandboxCpuMs?: number | undefined
  readonly peakMemoryBytes: number
  readonly outputBytes: number
  readonly sandboxSeconds: number
  readonly costUsd: number
}

/** Requests of the container over its network while the execution ran; of more than 1,000 the latest. */
export interface ExecutionNetwork {
  readonly requests: number
  readonly refused: number
  /** In both directions. */
  readonly bytes: number
}

export interface ExecutionResult {
  readonly cells: readonly CellResult[]
  readonly stdout: string
  readonly stderr: string
  readonly error: ExecutionError | null
  readonly files: readonly ExecutionFile[]
  /** No file of the container was created, changed or deleted. */
  readonly keptFiles?: true
  /** How a command's program ended; absent for code. */
  readonly exit?: CommandExit
  readonly lost: readonly Lost[]
  /** Absent without a request. */
  readonly network?: ExecutionNetwork | undefined
  readonly usage: ExecutionUsage
}

/** One of both is null. `signal` is a name such as `SIGTERM`. */
export interface CommandExit {
  readonly code: number | null
  readonly signal: string | null
}

/** One run of code, of a notebook's cells or of a command, in a container. Times are epoch ms. */
export interface Execution {
  readonly v: 1
  readonly tenant: string
  readonly subject: string | null
  readonly id: string
  readonly containerId: string
  /** The chat turn that requested it; the end of the execution enqueues the turn's next step. */
  readonly responseId: string | null
  /** Until then (epoch ms) the worker of that turn waits for the end and needs no message. */
  readonly awaitedUntil?: number
  readonly status: ExecutionStatus
  readonly reason: ExecutionReason | null
  readonly source: ExecutionSource
  readonly scope?: ExecutionScope
  /** Python without it. */
  readonly language?: ExecutionLanguage
  readonly timeoutSeconds: number
  readonly onError: 'stop' | 'continue'
  readonly storeHistory: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly publicUrl: string
  /** W3C `traceparent` of the request; every step logs that trace. */
  readonly traceparent: string | null
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly cancelRequestedAt: number | null
  readonly lease: Lease | null
  readonly fence: number
  /** The sandbox to which the code is sent. Once set, the code may have run there, and only there. */
  readonly sandboxId: string | null
  /** When the first failed start of a sandbox for it began, by the platform's clock (epoch ms). */
  readonly startsFailSince?: number
  /**
   * Of a command: how long its sandbox was suspended while it ran, milliseconds, and since when it is now (epoch ms; null: it runs). Its time limit does not count
   * that time. Absent before the first suspension.
   */
  readonly pauses?: { readonly ms: number; readonly since: number | null }
  /** Since when every step has failed (epoch ms); null when the last step succeeded. */
  readonly stepsFailSince: number | null
  /** Losses from an earlier sandbox; the result includes them. */
  readonly lostBefore: readonly Lost[]
  readonly result: ExecutionResult | null
  readonly resultRef: BlobRef | null
  /** The last events, stored in the row to save a write; they follow the event log. */
  readonly tailEvents: readonly ExecutionEvent[]
  readonly dueAt: number | null
}

/** It is a command whose sandbox is suspended. */
export const isPaused = ({ pauses }: Pick<Execution, 'pauses'>): boolean => pauses !== undefined && pauses.since !== null
