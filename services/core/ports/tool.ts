/**
 * Something that a model may call. `code_interpreter` and `web_search` are built in; an operator adds others, one file each (docs/tools.md).
 * A request asks for a tool by naming its `type` in `tools`, as it does for the interpreter.
 */
export interface Tool {
  /** The wire's tool type, for example `code_interpreter`. */
  readonly type: string
  /** Other types that clients name it by. */
  readonly aliases?: readonly string[]
  /** What the model calls it. */
  readonly name: string
  /** Tells the model what it does and when to use it. */
  readonly description: string
  /** JSON schema of its arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly limits: ToolLimits
  /**
   * Carries out one call; `args` keeps to `parameters`. A failure that the model can do something about is a result with `isError`. What it
   * throws goes to the operator's log, and the model hears only that the tool failed. A call is repeated with the same `callId` when its
   * worker died before the result was stored.
   */
  execute(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolResult>
}

export interface ToolLimits {
  /** The signal of the context fires after this, and the call is given up, milliseconds. */
  readonly timeoutMs: number
  /** A longer text is cut in its middle, characters. */
  readonly maxResultChars: number
}

export interface ToolContext {
  readonly tenant: string
  readonly subject: string | null
  readonly responseId: string
  /** The id of its item: the same when it is repeated, so what must not happen twice can be keyed by it. */
  readonly callId: string
  /** The request's entry in `tools`, as it came. */
  readonly options: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

export type ToolResult =
  /** `sources`: pages that the text draws on; an answer that names their address cites them. */
  | { readonly kind: 'text'; readonly text: string; readonly isError: boolean; readonly sources?: readonly Source[] }
  /** Python to run in the response's container; the turn goes on when that execution has ended. */
  | { readonly kind: 'code'; readonly code: string }

export interface Source {
  readonly url: string
  readonly title: string
}
