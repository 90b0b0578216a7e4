import type { Duplex } from 'node:stream'
import type { SandboxEvent } from '../model/executions/events/event-types.ts'
import type { CommandInputEvent } from '../model/events.ts'
import type { ExecutionLanguage } from '../model/executions/language.ts'
import type { TerminalSize } from '../model/executions/execution.ts'
import type { SandboxAddress, SandboxSession } from '../model/sandboxes/sandbox.ts'
import type { ByteStream } from '../model/byte-stream.ts'

/** The client side of `runtime-image/PROTOCOL.md`. Answers are hostile: implementations check and bound them before they return. */
export interface Supervisor {
  health(address: SandboxAddress, waitMs: number, signal: AbortSignal): Promise<SandboxHealth>
  /** Starts the execution or connects to a started one. The iterable ends after `done`; it throws LinkError when the stream breaks. */
  execute(
    session: SandboxSession,
    execution: { readonly executionId: string; readonly request: ExecuteRequest; readonly after: number },
    signal: AbortSignal,
  ): Promise<AsyncIterable<SupervisorEvent>>
  /** Starts the command or connects to a started one; otherwise as `execute`. */
  runCommand(
    session: SandboxSession,
    command: { readonly commandId: string; readonly request: CommandRequest; readonly after: number },
    signal: AbortSignal,
  ): Promise<AsyncIterable<SupervisorEvent>>
  /** Sends numbered input; each number is applied once. Returns the last applied number; later input must be sent again. */
  sendInput(session: SandboxSession, commandId: string, entries: readonly CommandInputEvent[]): Promise<{ readonly through: number }>
  stopCommand(session: SandboxSession, commandId: string, killAfterMs: number): Promise<void>
  interrupt(session: SandboxSession, executionId: string, killAfterMs: number): Promise<void>
  listFiles(session: SandboxSession): Promise<{ readonly files: readonly SandboxFile[]; readonly skipped: SupervisorEnvelope['skipped'] }>
  getFile(session: SandboxSession, path: string, signal: AbortSignal): Promise<{ readonly bytes: number; readonly body: ByteStream } | null>
  putFile(
    session: SandboxSession,
    file: { readonly path: string; readonly bytes: number; readonly body: ByteStream },
    signal: AbortSignal,
  ): Promise<{ readonly sha256: string }>
  deleteFile(session: SandboxSession, path: string): Promise<void>
  /** Names of the folders below `/mnt/skills`. */
  listSkills(session: SandboxSession): Promise<readonly string[]>
  /** Writes a bundle (`services/model/skills/bundle.ts`) as a read-only folder below `/mnt/skills`; a folder that exists stays as it is. */
  putSkill(
    session: SandboxSession,
    skill: { readonly folder: string; readonly bytes: number; readonly body: ByteStream },
    signal: AbortSignal,
  ): Promise<void>
  /** Lets user code connect to a proxy whose certificates `ca` (PEM) verifies. Idempotent. Refused with `conflict` when the image lacks the loopback layer. */
  openNetwork(session: SandboxSession, ca: string): Promise<void>
  /** Ends every connection of user code. Idempotent. */
  closeNetwork(session: SandboxSession): Promise<void>
  /** Resolves with the next connection of user code to the proxy; waits for as long as there is none. Throws LinkError. */
  acceptConnection(session: SandboxSession, signal: AbortSignal): Promise<Duplex>
  /** A connection to the program that listens on a port of the sandbox's loopback. Throws SupervisorError `not_found` when none does, `unavailable` when it accepts nothing more, and LinkError. */
  connectPort(session: SandboxSession, port: number, signal: AbortSignal): Promise<Duplex>
  /** Ports on which programs listen, in order. A sandbox of an older image has none. */
  listPorts(session: SandboxSession): Promise<readonly number[]>
  /**
   * Closes the socket of an idle sandbox, so that its processes can be written to a checkpoint. It opens again in the resumed sandbox, or after 30 seconds.
   * Refused with `conflict` while something runs.
   */
  suspend(session: SandboxSession): Promise<void>
  /** All variables as an opaque stream. Throws LinkError when the kernel ends during the snapshot. */
  snapshot(session: SandboxSession, budget: NamespaceBudget, signal: AbortSignal): Promise<SnapshotStream>
  /**
   * Refused with `conflict` after an execution started in this sandbox, and with `bad_request` for an invalid snapshot. `isCopy`: random numbers do not
   * continue from the saved states.
   */
  restore(
    session: SandboxSession,
    from: {
      readonly snapshot: { readonly bytes: number; readonly body: ByteStream }
      readonly budget: NamespaceBudget
      readonly isCopy?: boolean
    },
    signal: AbortSignal,
  ): Promise<{
    readonly restored: number
    readonly lost: readonly { readonly what: string; readonly reason: string }[]
    readonly usage: NamespaceUsage
  }>
}

/** Limits of the user code that runs while variables are saved or restored. */
export interface NamespaceBudget {
  /** Time of the kernel; a slow reader does not count. */
  readonly timeoutMs: number
  /** Processor time of the whole sandbox; absent for no limit. */
  readonly cpuMs?: number | undefined
}

export interface SnapshotStream {
  readonly body: ByteStream
  /** Use of resources by saving; null before the body has been read to its end, and if the sandbox does not report it. */
  readonly usage: () => NamespaceUsage | null
}

export interface NamespaceUsage {
  readonly runMs: number
  readonly cpuMs: number
  /** As in an envelope; for a saving only. */
  readonly sandboxCpuMs?: number | undefined
}

export interface SandboxHealth {
  readonly v: number
  readonly sandboxId: string
  readonly state: 'starting' | 'ready' | 'refused'
  readonly refused: readonly string[]
}

export interface ExecuteRequest {
  readonly cells: readonly { readonly code: string }[]
  /** Variables and folder of this execution only. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly context?: string
  /** Python without it. */
  readonly language?: ExecutionLanguage
  readonly onError: 'stop' | 'continue'
  readonly storeHistory: boolean
  readonly timeoutMs: number
  /** Absent: unlimited. Displays beyond `maxDisplays` are counted and not kept. */
  readonly cpuMs?: number
  readonly maxTotalBytes?: number
  readonly maxDisplays?: number
  /** 32 hex digits, returned in the envelope. */
  readonly traceId?: string
}

export interface CommandRequest {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | null
  /** Base64. */
  readonly stdin: string | null
  readonly hasOpenInput: boolean
  readonly pty: TerminalSize | null
  /** The head of each stream that is kept; absent for the default one. */
  readonly maxOutputBytes?: number
  readonly timeoutMs: number
  readonly cpuMs?: number
  readonly maxTotalBytes?: number
  readonly traceId?: string
}

export interface SandboxFile {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

export type SupervisorOutcome =
  | 'ok'
  | 'error'
  | 'timed_out'
  | 'cancelled'
  | 'oom'
  | 'kernel_died'
  | 'output_limit'
  | 'disk_full'
  | 'cpu_limit'

/** An event of a sandbox. `done` is the last one of an execution. */
export type SupervisorEvent = SandboxEvent | SupervisorDone
export type SupervisorDone = { readonly seq: number; readonly t: number; readonly type: 'done' } & SupervisorEnvelope

export interface SupervisorEnvelope {
  readonly outcome: SupervisorOutcome
  readonly runMs: number
  readonly cpuMs: number
  /** Processor time of the sandbox since the last report, with programs that ran between executions. Absent from an older image. */
  readonly sandboxCpuMs?: number | undefined
  readonly peakMemoryBytes: number
  readonly outputBytes: number
  readonly truncated: readonly { readonly what: string; readonly totalBytes: number; readonly keptBytes: number; readonly reason: string }[]
  readonly files: readonly (SandboxFile & { readonly change: 'created' | 'modified' })[]
  readonly deleted: readonly string[]
  readonly skipped: readonly { readonly path: string; readonly reason: string }[]
  /** Number of processes that code left running and that the supervisor ended, without the kernel. */
  readonly endedProcesses: number
  readonly stateLost: string | null
  /** How a command's program, or a kernel that died, ended. */
  readonly exit?: { readonly code: number | null; readonly signal: number | null } | null
  /** The trace id of the execution's request. */
  readonly traceId?: string | null
}

export type SupervisorErrorCode =
  | 'unauthorized'
  | 'not_found'
  | 'bad_request'
  | 'conflict'
  | 'too_large'
  | 'disk_full'
  | 'unavailable'
  | 'internal'
  /** The answer violates the protocol: too large, too deep, malformed, out of order. A retry fails as well. */
  | 'protocol'
  /** Another sandbox has this address, or the sandbox was restarted and its state is gone. Nothing was sent. */
  | 'wrong_sandbox'

/** The supervisor refused a request. `conflict`: another execution is running. */
export class SupervisorError extends Error {
  readonly code: SupervisorErrorCode
  constructor(code: SupervisorErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SupervisorError'
    this.code = code
  }
}
