import type { SandboxStatus } from '../../ports/sandbox-driver.ts'
import { refusedCheck } from '../../model/sandboxes/isolation-checks.ts'

type GoneReason = Extract<SandboxStatus, { phase: 'gone' }>['reason']

const KILLED = 137
const TERMINATED = 143

/** The reason that follows from an exit code. `isOutOfMemory`: the platform reports an out-of-memory kill. */
export function exitReason(exitCode: number | null, isOutOfMemory: boolean): GoneReason {
  if (refusedCheck(exitCode) !== null) return 'refused'
  if (isOutOfMemory && (exitCode === KILLED || exitCode === null)) return 'oom'
  return exitCode === 0 || exitCode === TERMINATED ? 'stopped' : 'lost'
}
