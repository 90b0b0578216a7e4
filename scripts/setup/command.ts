import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { SetupError } from './progress.ts'

export interface CommandResult {
  /** 127 if the program does not exist, 124 after a time-out. */
  readonly code: number
  readonly stdout: string
  /** Both streams interleaved, for messages. */
  readonly output: string
}

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly timeoutSeconds?: number
  /** Called for each line of either stream. */
  readonly onLine?: (line: string) => void
}

/** The exit code of a program that its time-out ended. */
export const TIMED_OUT = 124

const running = new Set<ReturnType<typeof spawn>>()

/** Runs a program to its end. Never rejects: the result has the exit code and the output. */
export function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    let stdout = ''
    let output = ''
    let hasTimedOut = false
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
      if (options.onLine) createInterface({ input: stream }).on('line', options.onLine)
    }
    const timer = options.timeoutSeconds
      ? setTimeout(() => {
          hasTimedOut = true
          child.kill('SIGKILL')
          // Child processes may still hold the pipes open.
          child.stdout.destroy()
          child.stderr.destroy()
        }, options.timeoutSeconds * 1000)
      : undefined
    const finish = (code: number): void => {
      clearTimeout(timer)
      running.delete(child)
      resolve({ code, stdout, output })
    }
    child.on('error', (error: NodeJS.ErrnoException) => {
      output += error.message
      finish(error.code === 'ENOENT' ? 127 : 126)
    })
    child.on('close', (code, signal) => finish(hasTimedOut ? TIMED_OUT : (code ?? 128 + (signal ? constants.signals[signal] : 0))))
  })
}

/** Runs a program that may hang: an attempt that exceeds its time-out is killed, then the next attempt starts. */
export async function runWithRetries(
  program: string,
  args: readonly string[],
  {
    timeoutsSeconds,
    ...options
  }: Omit<CommandOptions, 'timeoutSeconds'> & { readonly onTimeout?: () => void } & {
    readonly timeoutsSeconds: readonly [number, ...number[]]
  },
): Promise<CommandResult> {
  const [timeoutSeconds, next, ...later] = timeoutsSeconds
  const result = await runCommand(program, args, { ...options, timeoutSeconds })
  if (result.code !== TIMED_OUT || next === undefined) return result
  options.onTimeout?.()
  return runWithRetries(program, args, { timeoutsSeconds: [next, ...later], ...options })
}

/**
 * On a signal, stops running child programs within five seconds and exits with 128 plus the signal's number. A second signal changes nothing:
 * npm forwards a signal that the whole process group has received, and without a listener it would end the process before its `exit` listeners.
 */
export function exitOnSignals(): void {
  let isEnding = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (isEnding) return
      isEnding = true
      const exit = (): never => process.exit(128 + constants.signals[signal])
      const ended = [...running].map((child) => once(child, 'exit'))
      for (const child of running) child.kill('SIGTERM')
      setTimeout(exit, 5_000).unref()
      void Promise.all(ended).then(exit)
    })
}

/** An error with the program's first and last lines and this sentence; recognises a full disk. */
export function explainFailure(sentence: string, result: CommandResult): SetupError {
  const lines = result.output.trim().split('\n')
  const excerpt = (lines.length > 30 ? [...lines.slice(0, 8), '…', ...lines.slice(-20)] : lines).join('\n')
  const advice = /no space left on device|ENOSPC|not enough free space|You don't have enough free space/i.test(result.output)
    ? `${sentence} The disk is full: free some space (docker system df shows Docker's part) and run the command again.`
    : sentence
  return new SetupError(excerpt ? `${excerpt}\n\n${advice}` : advice)
}
