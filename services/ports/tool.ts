import type { ExecutionSource } from '../model/executions/execution.ts'
import type { Source } from '../model/responses/source.ts'

/**
 * A function that a model may call. A request enables a tool by its `type` in `tools`. `answeredBy` says where its calls are answered: by this
 * process, by jobs in the response's container, or by the caller with the next request (docs/adr/0057-how-tools-run.md).
 */
export type Tool = ServerTool | ContainerTool | CallerTool

interface Description {
  /** The wire's tool type, for example `code_interpreter`. */
  readonly type: string
  /** Further types that requests may use. */
  readonly aliases?: readonly string[]
  /** The name that the model calls. */
  readonly name: string
  /** Tells the model what it does and when to use it. */
  readonly description: string
  /** JSON schema of its arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A tool that the chat worker executes within the turn. Operators add them, one file each (docs/tools.md). */
export interface ServerTool extends Description {
  readonly answeredBy: 'server'
  readonly limits: ToolLimits
  /**
   * Performs one call; `args` satisfies `parameters`. A failure that the model can act on is a result with `isError`. An exception goes to the
   * operator's log, and the model learns only that the tool failed. If the worker dies before the result is stored, the call is repeated with the
   * same `callId`.
   */
  execute(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolResult>
}

/** A tool whose calls run as jobs in the container, one after another. Each is pending in the turn's row until its result is recorded. */
export interface ContainerTool extends Description {
  readonly answeredBy: 'container'
  /** The jobs of a call in their order, for any arguments. A job that cannot run has a rejection instead. A call has one if none of its jobs can run. */
  jobsOf(args: Readonly<Record<string, unknown>>): readonly (ContainerJob | Rejection)[] | Rejection
}

/** The response ends with the call. */
export interface CallerTool extends Description {
  readonly answeredBy: 'caller'
}

export interface ContainerJob {
  readonly source: Extract<ExecutionSource, { readonly kind: 'code' | 'command' }>
  readonly timeoutSeconds: number
}

/** Why something does not run, with a sentence for the model. */
export interface Rejection {
  readonly reason: string
  readonly message: string
}

export interface ToolLimits {
  /** The context's signal aborts after this time, and the call is abandoned, milliseconds. */
  readonly timeoutMs: number
  /** A longer text is cut in the middle, characters. */
  readonly maxResultChars: number
}

export interface ToolContext {
  readonly tenant: string
  readonly subject: string | null
  readonly responseId: string
  /** The id of the call's item. A repetition has the same id, so it can serve as an idempotency key. */
  readonly callId: string
  /** The request's entry in `tools`, unchanged. */
  readonly options: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

/** `sources`: pages that the text is based on; an answer that contains their address cites them. */
export interface ToolResult {
  readonly kind: 'text'
  readonly text: string
  readonly isError: boolean
  readonly sources?: readonly Source[]
}
