/** The documented exit codes of the program. */
export const EXIT = { ok: 0, codeFailed: 1, usage: 2, refused: 3, timedOut: 124, cancelled: 130 } as const

/** A valid command that failed; the message says why and what to do. */
export class CliError extends Error {
  readonly exitCode: number
  constructor(message: string, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.exitCode = options.exitCode ?? EXIT.refused
  }
}
