import type { SandboxStatus } from '../../core/ports/sandbox-driver.ts'

type GoneReason = Extract<SandboxStatus, { phase: 'gone' }>['reason']

/** The exit code of a supervisor whose isolation checks failed, from `runtime-image/PROTOCOL.md`. */
const REFUSED = 86
const KILLED = 137
const TERMINATED = 143

/** What an exit code alone tells. `isOutOfMemory`: the platform says that the kernel's killer struck. */
export function exitReason(exitCode: number | null, isOutOfMemory: boolean): GoneReason {
  if (exitCode === REFUSED) return 'refused'
  if (isOutOfMemory && (exitCode === KILLED || exitCode === null)) return 'oom'
  return exitCode === 0 || exitCode === TERMINATED ? 'stopped' : 'lost'
}
