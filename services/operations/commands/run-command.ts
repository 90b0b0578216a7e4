import { ServiceError } from '../../model/errors.ts'
import { MAX_ARGUMENT_BYTES, sandboxArguments } from '../../model/executions/command-arguments.ts'
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
  /** The client reads the event log and not the result, so the log keeps a longer head of the output. */
  readonly isFollowed?: boolean
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
  const { argv, env, cwd, stdin, pty, isBackground = false, isFollowed = false } = request
  const source: CommandSource = {
    kind: 'command',
    argv,
    stdin: stdin === undefined || stdin === 'open' ? null : Buffer.from(stdin).toString('base64'),
    hasOpenInput: stdin === 'open',
    pty: pty ?? null,
    isBackground,
    ...(isFollowed && { isFollowed }),
  }
  checkArguments(argv)
  const scope = { ...(env !== undefined && { env }), ...(cwd !== undefined && { cwd }) }
  const bytes = Buffer.byteLength(JSON.stringify([{ ...source, argv: [] }, scope]))
  if (bytes > LIMITS.maxCommandBytes)
    throw new ServiceError(
      'request_too_large',
      `The input and the variables of the command are ${bytes} bytes; the maximum is ${LIMITS.maxCommandBytes}. Put data into files instead.`,
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

/** Throws ServiceError when Linux would not start the program with these arguments. */
function checkArguments(argv: readonly string[]): void {
  const total = argv.reduce((sum, argument) => sum + Buffer.byteLength(argument), 0)
  if (total > LIMITS.maxArgumentsBytes)
    throw new ServiceError(
      'request_too_large',
      `The command has arguments of ${total} bytes; the maximum is ${LIMITS.maxArgumentsBytes}. Put data into files instead.`,
    )
  const bytes = Math.max(...sandboxArguments(argv).map((argument) => Buffer.byteLength(argument)))
  if (bytes > MAX_ARGUMENT_BYTES)
    throw new ServiceError(
      'request_too_large',
      `One argument of the command is ${bytes} bytes; Linux accepts ${MAX_ARGUMENT_BYTES}, except in the script of a shell. Put data into files instead.`,
    )
}
