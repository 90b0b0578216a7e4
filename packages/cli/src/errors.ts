/** The documented exit codes of the program. */
export const EXIT = { ok: 0, codeFailed: 1, usage: 2, refused: 3, timedOut: 124, cancelled: 130 } as const

/** A valid command that failed; the message says why and what to do. */
export class CliError extends Error {
  readonly exitCode: number
  /** HTTP status of the server's refusal; absent when it did not answer, or was not asked. */
  readonly status?: number
  constructor(message: string, options: { readonly exitCode?: number; readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    if (options.status !== undefined) this.status = options.status
    this.exitCode = options.exitCode ?? EXIT.refused
  }
}
