import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Ten steps are about ten times the share of a busy processor. https://man7.org/linux/man-pages/man7/sched.7.html */
const NICE = -10
/** Linux weighs a process within its session, and the session against the others and against control groups. */
const SESSION = '/proc/self/autogroup'

/**
 * Gives the server, which answers every tenant, precedence over sandboxes that compute. Only root may do that; in a container or a service of systemd the weight of
 * its control group decides instead (docs/single-machine.md).
 */
export function raisePriority(): void {
  for (const raise of [() => setPriority(NICE), () => writeFileSync(SESSION, String(NICE))]) {
    try {
      raise()
    } catch {
      // Another system, no such setting, or no right to it: the server works without.
    }
  }
}
