import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { createInterface } from 'node:readline'

/** Live code has priority over what a server builds in the background. */
const LOWEST_PRIORITY = 19

interface ScriptResult {
  readonly isGood: boolean
  readonly wasStopped: boolean
  readonly seconds: number
  /** The last line of standard output, null without one. */
  readonly output: string | null
  /** The last line of standard error, which says what the script does or why it failed. */
  readonly lastStep: string
}

export interface BackgroundScript {
  readonly ended: Promise<ScriptResult>
  stop(): void
}

/**
 * Runs a script of this project beside the server, with the lowest priority, once `after` has settled. `onStep` receives each line of its standard
 * error.
 */
export function runInBackground(
  script: string,
  args: readonly string[],
  {
    after = Promise.resolve(),
    onStep = () => undefined,
  }: { readonly after?: Promise<void>; readonly onStep?: (line: string) => void } = {},
): BackgroundScript {
  const stopping = new AbortController()
  const { signal } = stopping
  const stopped = once(signal, 'abort')
  const run = async (): Promise<ScriptResult> => {
    await Promise.race([after.catch(() => undefined), stopped])
    if (signal.aborted) return { isGood: false, wasStopped: true, seconds: 0, output: null, lastStep: '' }
    const startedAt = performance.now()
    const result = await runScript(script, { args, onStep, signal })
    return { ...result, wasStopped: signal.aborted, seconds: Math.round((performance.now() - startedAt) / 1000) }
  }
  return { ended: run(), stop: () => stopping.abort() }
}

async function runScript(
  script: string,
  { args, onStep, signal }: { readonly args: readonly string[]; readonly onStep: (line: string) => void; readonly signal: AbortSignal },
): Promise<Pick<ScriptResult, 'isGood' | 'output' | 'lastStep'>> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) setPriority(child.pid, LOWEST_PRIORITY)
  signal.addEventListener('abort', () => child.kill('SIGTERM'))
  let lastStep = ''
  let output: string | null = null
  createInterface(child.stdout).on('line', (line) => (output = line.trim()))
  createInterface(child.stderr).on('line', (line) => {
    lastStep = line.trim()
    onStep(lastStep)
  })
  const isGood = await once(child, 'close').then(
    ([code]) => code === 0,
    () => false,
  )
  return { isGood, output, lastStep }
}
