import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { createInterface } from 'node:readline'

/** Live code has priority over what a server builds beside it. */
const LOWEST_PRIORITY = 19

export interface BackgroundScript {
  readonly ended: Promise<{
    readonly isGood: boolean
    readonly wasStopped: boolean
    readonly seconds: number
    /** The last line of standard output, null without one. */
    readonly output: string | null
    /** The last line of standard error, which says what the script does or why it failed. */
    readonly lastStep: string
  }>
  stop(): void
}

/** Runs a script of this project beside the server, with the lowest priority. `onStep` receives each line of its standard error. */
export function runInBackground(script: string, args: readonly string[], onStep: (line: string) => void): BackgroundScript {
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) setPriority(child.pid, LOWEST_PRIORITY)
  let wasStopped = false
  let lastStep = ''
  let output: string | null = null
  createInterface(child.stdout).on('line', (line) => (output = line.trim()))
  createInterface(child.stderr).on('line', (line) => {
    lastStep = line.trim()
    onStep(lastStep)
  })
  const ended = once(child, 'close').then(
    ([code]) => code === 0,
    () => false,
  )
  return {
    ended: ended.then((isGood) => ({ isGood, wasStopped, seconds: Math.round((performance.now() - startedAt) / 1000), output, lastStep })),
    stop: () => {
      wasStopped = true
      child.kill('SIGTERM')
    },
  }
}
