import { setTimeout as delay } from 'node:timers/promises'
import { LinkError } from '../../core/ports/sandbox-link.ts'
import { SupervisorError } from '../../core/ports/supervisor.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { RunDeps } from '../deps.ts'

/** A started sandbox has so long until its supervisor answers, milliseconds: Python, the self-test and the first kernel. */
export const SUPERVISOR_UP_MS = 60_000
/** One step waits no longer than this, well within its lease, and then lets a fresh message wait on, milliseconds. */
const WAIT_MS = 10_000
const BETWEEN_LOOKS_MS = 150

/**
 * Whether somebody has to look before this sandbox gets code: only who is in its network can see the supervisor behind an IP address, so its
 * driver calls it ready as soon as the task runs. Behind a socket the driver has asked itself.
 */
export const needsLook = ({ address, readyAt, answeredAt }: Sandbox, now: number): boolean =>
  address?.kind === 'tcp' && answeredAt === null && now - (readyAt ?? now) < SUPERVISOR_UP_MS

/** `up`: it passed its self-test and waits. `coming`: look again in the next step. `dead`: it refused its walls, or its time is over. */
export async function awaitSupervisor({ supervisor, clock }: RunDeps, sandbox: Sandbox): Promise<'up' | 'coming' | 'dead'> {
  const { address } = sandbox
  if (address === null) return 'dead'
  const until = AbortSignal.timeout(WAIT_MS)
  for (;;) {
    try {
      const health = await supervisor.health(address, WAIT_MS, until)
      if (health.sandboxId !== sandbox.id || health.state === 'refused') return 'dead'
      if (health.state === 'ready') return 'up'
    } catch (cause) {
      if (!until.aborted && !(cause instanceof LinkError) && !(cause instanceof SupervisorError)) throw cause
    }
    if (!needsLook(sandbox, clock.now())) return 'dead'
    if (until.aborted) return 'coming'
    await delay(BETWEEN_LOOKS_MS)
  }
}
