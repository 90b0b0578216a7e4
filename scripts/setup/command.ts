import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { SetupError } from './progress.ts'

export interface CommandResult {
  /** 127 when the program does not exist, 124 when it took too long. */
  readonly code: number
  readonly stdout: string
  /** Both streams as they came, for messages. */
  readonly output: string
}

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly timeoutSeconds?: number
  /** Called for each line of either stream while the program runs. */
  readonly onLine?: (line: string) => void
}

const TOOK_TOO_LONG = 124

const running = new Set<ReturnType<typeof spawn>>()

/** Runs a program to its end. Never rejects: what went wrong is in the result. */
export function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    let stdout = ''
    let output = ''
    let isLate = false
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
      if (options.onLine) createInterface({ input: stream }).on('line', options.onLine)
    }
    const timer = options.timeoutSeconds
      ? setTimeout(() => {
          isLate = true
          child.kill('SIGKILL')
          // What it started may live on and hold them.
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
    child.on('close', (code, signal) => finish(isLate ? TOOK_TOO_LONG : (code ?? 128 + (signal ? constants.signals[signal] : 0))))
  })
}

/** Runs a program that may stand still: a try that takes longer than its seconds is ended and followed by the next one. */
export async function runPatiently(
  program: string,
  args: readonly string[],
  patience: readonly [number, ...number[]],
  options: Omit<CommandOptions, 'timeoutSeconds'> & { readonly onLate?: () => void } = {},
): Promise<CommandResult> {
  const [timeoutSeconds, next, ...later] = patience
  const result = await runCommand(program, args, { ...options, timeoutSeconds })
  if (result.code !== TOOK_TOO_LONG || next === undefined) return result
  options.onLate?.()
  return runPatiently(program, args, [next, ...later], options)
}

/** A signal ends the programs that are being waited for (they get five seconds), and then this process with the usual exit code. */
export function endWithSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      const exit = (): never => process.exit(128 + constants.signals[signal])
      const ended = [...running].map((child) => once(child, 'exit'))
      for (const child of running) child.kill('SIGTERM')
      setTimeout(exit, 5_000).unref()
      void Promise.all(ended).then(exit)
    })
}

/** The reason of a failure as a sentence, with the program's first and last lines; a full disk is recognised in any of them. */
export function explainFailure(sentence: string, result: CommandResult): SetupError {
  const lines = result.output.trim().split('\n')
  const excerpt = (lines.length > 30 ? [...lines.slice(0, 8), '…', ...lines.slice(-20)] : lines).join('\n')
  const advice = /no space left on device|ENOSPC|not enough free space|You don't have enough free space/i.test(result.output)
    ? `${sentence} The disk is full: free some space (docker system df shows Docker's part) and run the command again.`
    : sentence
  return new SetupError(excerpt ? `${excerpt}\n\n${advice}` : advice)
}
