import { setTimeout as delay } from 'node:timers/promises'
import { LinkError } from '../../../ports/sandbox-link.ts'
import { namedCheck } from '../../../model/sandboxes/isolation-checks.ts'
import { SupervisorError } from '../../../ports/supervisor.ts'
import type { Sandbox } from '../../../model/sandboxes/sandbox.ts'
import type { RunDeps } from '../../deps.ts'

/** Maximum time from the start of a task until its supervisor answers, milliseconds. It starts Python, the self-test and a kernel. */
export const SUPERVISOR_UP_MS = 60_000
/** Maximum wait of one step, milliseconds, well within its lease; the step of a new message continues to wait. */
const WAIT_MS = 10_000
const POLL_MS = 150

/**
 * Whether the supervisor must answer before its sandbox receives code. Only a worker in the sandbox's network can reach an IP address, so the driver
 * reports `ready` as soon as the task runs. For a socket, the driver has already checked the supervisor.
 */
export const needsHealthCheck = ({ address, readyAt, answeredAt }: Sandbox, now: number): boolean =>
  address?.kind === 'tcp' && answeredAt === null && now - (readyAt ?? now) < SUPERVISOR_UP_MS

/** `up`: it passed its self-test and is idle. `starting`: check again in the next step. `dead`: it did not answer in time. `refused`: the failed isolation check. */
export async function awaitSupervisor(
  { supervisor, clock }: Pick<RunDeps, 'supervisor' | 'clock'>,
  sandbox: Sandbox,
): Promise<'up' | 'starting' | 'dead' | { readonly refused: string }> {
  const { address } = sandbox
  if (address === null) return 'dead'
  const until = AbortSignal.timeout(WAIT_MS)
  for (;;) {
    try {
      const health = await supervisor.health(address, WAIT_MS, until)
      if (health.sandboxId !== sandbox.id) return 'dead'
      if (health.state === 'refused') return { refused: namedCheck(health.refused) }
      if (health.state === 'ready') return 'up'
    } catch (cause) {
      if (!until.aborted && !(cause instanceof LinkError) && !(cause instanceof SupervisorError)) throw cause
    }
    if (!needsHealthCheck(sandbox, clock.now())) return 'dead'
    if (until.aborted) return 'starting'
    await delay(POLL_MS)
  }
}
