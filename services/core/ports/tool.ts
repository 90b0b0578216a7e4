/**
 * Something that a model may call. `code_interpreter` is one; an operator adds others. A request asks for a tool by naming its `type` in
 * `tools`, as it does for the interpreter.
 */
export interface Tool {
  /** The wire's tool type, for example `code_interpreter`. */
  readonly type: string
  /** What the model calls it. */
  readonly name: string
  /** Tells the model what it does and when to use it. */
  readonly description: string
  /** JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly limits: ToolLimits
  /**
   * Carries out one call; `args` is what the model sent, not yet checked. A failure is a result with `isError`, which the model reads; it
   * throws only for a broken invariant. A call may be repeated after a crash, so it must be safe to do twice.
   */
  execute(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolResult>
}

export interface ToolLimits {
  /** The signal of the context fires after this, milliseconds. */
  readonly timeoutMs: number
  /** A longer text is cut in its middle, characters. */
  readonly maxResultChars: number
}

export interface ToolContext {
  readonly tenant: string
  readonly subject: string | null
  readonly responseId: string
  readonly signal: AbortSignal
}

export type ToolResult =
  | { readonly kind: 'text'; readonly text: string; readonly isError: boolean }
  /** Python to run in the response's container; the turn goes on when that execution has ended. */
  | { readonly kind: 'code'; readonly code: string }
