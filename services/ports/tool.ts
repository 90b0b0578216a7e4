import type { Source } from '../model/responses/source.ts'

/**
 * A function that a model may call. `code_interpreter` and `web_search` are built in; an operator adds others, one file each (docs/tools.md).
 * A request enables a tool by its `type` in `tools`.
 */
export interface Tool {
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
  readonly limits: ToolLimits
  /**
   * Performs one call; `args` satisfies `parameters`. A failure that the model can act on is a result with `isError`. An exception goes to the
   * operator's log, and the model learns only that the tool failed. If the worker dies before the result is stored, the call is repeated with the
   * same `callId`.
   */
  execute(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolResult>
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

export type ToolResult =
  /** `sources`: pages that the text is based on; an answer that contains their address cites them. */
  | { readonly kind: 'text'; readonly text: string; readonly isError: boolean; readonly sources?: readonly Source[] }
  /** Python to run in the response's container; the turn continues after that execution. */
  | { readonly kind: 'code'; readonly code: string }
