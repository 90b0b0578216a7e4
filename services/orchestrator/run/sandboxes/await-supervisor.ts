import { setTimeout as delay } from 'node:timers/promises'
import { LinkError } from '../../../core/ports/sandbox-link.ts'
import { SupervisorError } from '../../../core/ports/supervisor.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { RunDeps } from '../../deps.ts'

/** A started sandbox has this long until its supervisor answers, milliseconds: Python, the self-test and the first kernel. */
export const SUPERVISOR_UP_MS = 60_000
/** One step waits no longer than this, well within its lease, milliseconds; a new message waits on. */
const WAIT_MS = 10_000
const POLL_MS = 150

/**
 * Whether a supervisor has to answer before its sandbox gets code. Only a worker in its network can see the supervisor behind an IP address, so
 * the driver reports `ready` as soon as the task runs. Behind a socket the driver has asked the supervisor itself.
 */
export const needsHealthCheck = ({ address, readyAt, answeredAt }: Sandbox, now: number): boolean =>
  address?.kind === 'tcp' && answeredAt === null && now - (readyAt ?? now) < SUPERVISOR_UP_MS

/** `up`: it passed its self-test and waits. `starting`: check again in the next step. `dead`: it refused to start, or its time is over. */
export async function awaitSupervisor(
  { supervisor, clock }: Pick<RunDeps, 'supervisor' | 'clock'>,
  sandbox: Sandbox,
): Promise<'up' | 'starting' | 'dead'> {
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
    if (!needsHealthCheck(sandbox, clock.now())) return 'dead'
    if (until.aborted) return 'starting'
    await delay(POLL_MS)
  }
}
