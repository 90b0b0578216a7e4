import { ServiceError } from '../../model/errors.ts'
import type { CommandSource, TerminalSize } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ClaimedId } from '../claimed-id.ts'
import { runCode, type RunCodeResult, type RunContext } from '../executions/run-code.ts'

export interface RunCommandRequest {
  readonly containerId: string
  /** The program and its arguments; `shellCommand` makes them of a command line. */
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Relative to `/mnt/data` or absolute. */
  readonly cwd?: string
  /** The whole standard input; `open` accepts more with `sendCommandInput`. */
  readonly stdin?: Uint8Array | 'open'
  readonly pty?: TerminalSize
  readonly timeoutSeconds: number
  readonly isBackground?: boolean
  readonly metadata?: Readonly<Record<string, string>>
  /** The id from `claimId`; a new one without it. */
  readonly claimed?: ClaimedId
  /** Maximum wait for the end, milliseconds. */
  readonly waitMs: number
}

/**
 * Starts a program in a container, beside its kernel, and waits for its end. Every wire runs commands through this function. Throws ServiceError
 * when it is not accepted; a program that fails is a result.
 */
export function runCommand(context: RunContext, request: RunCommandRequest): Promise<RunCodeResult> {
  const { argv, env, cwd, stdin, pty, isBackground = false } = request
  const source: CommandSource = {
    kind: 'command',
    argv,
    stdin: stdin === undefined || stdin === 'open' ? null : Buffer.from(stdin).toString('base64'),
    hasOpenInput: stdin === 'open',
    pty: pty ?? null,
    isBackground,
  }
  const scope = { ...(env !== undefined && { env }), ...(cwd !== undefined && { cwd }) }
  const bytes = Buffer.byteLength(JSON.stringify([source, scope]))
  if (bytes > LIMITS.maxCommandBytes)
    throw new ServiceError(
      'request_too_large',
      `The command is ${bytes} bytes with its input and variables; the maximum is ${LIMITS.maxCommandBytes}. Put data into files instead.`,
    )
  return runCode(context, {
    containerId: request.containerId,
    source,
    scope,
    timeoutSeconds: request.timeoutSeconds,
    metadata: request.metadata ?? {},
    ...(request.claimed !== undefined && { claimed: request.claimed }),
    waitMs: request.waitMs,
  })
}
