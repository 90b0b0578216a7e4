import { aboutText, durationText, leftText } from '../progress/time-left.ts'

/**
 * Reports progress on standard error; standard output belongs to the command that runs afterwards. `expectedSeconds` is what the work that begins with
 * this line takes on a typical machine.
 */
export type Progress = (line: string, expectedSeconds?: number) => void

export const quiet: Progress = () => {}

/** A failure that the user can resolve: printed as a sentence, without a stack trace. */
export class SetupError extends Error {}

/** Silent work says after this time that it continues. */
const HEARTBEAT_MS = 15_000

export interface StepOptions {
  readonly print?: (line: string) => void
  readonly heartbeatMs?: number
}

/**
 * Runs one visible step. `work` reports through its progress and returns the result. A step with nothing to do prints its line only if
 * `always` is set. Work that reports nothing for a while is mentioned again with its time so far and the time left.
 */
export async function step<T>(
  title: string,
  { always, print = (line) => console.error(line), heartbeatMs = HEARTBEAT_MS }: StepOptions & { readonly always: boolean },
  work: (progress: Progress) => Promise<{ readonly found: string; readonly value: T }>,
): Promise<T> {
  const startedAt = performance.now()
  let hasWorked = false
  let task = { startedAt, expectedSeconds: 0 }
  const secondsSince = (at: number): number => (performance.now() - at) / 1000
  const heartbeat = setInterval(() => {
    if (!hasWorked) return
    const elapsed = secondsSince(task.startedAt)
    const left = task.expectedSeconds > 0 ? `, ${leftText(task.expectedSeconds, elapsed)}` : ''
    print(`  … ${durationText(elapsed)}${left}`)
  }, heartbeatMs)
  try {
    const { found, value } = await work((line, expectedSeconds) => {
      if (!hasWorked) print(`▸ ${title}`)
      hasWorked = true
      if (expectedSeconds !== undefined) task = { startedAt: performance.now(), expectedSeconds }
      print(`  ${line}${expectedSeconds === undefined ? '' : `: ${aboutText(expectedSeconds)}`}`)
      heartbeat.refresh()
    })
    if (hasWorked || always) print(`✓ ${title}: ${found} (${secondsSince(startedAt).toFixed(1)} s)`)
    return value
  } finally {
    clearInterval(heartbeat)
  }
}
