import { describeCause } from '../../model/describe-cause.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { DriverError } from '../../ports/sandbox-driver.ts'
import { LinkError } from '../../ports/sandbox-link.ts'
import { SupervisorError } from '../../ports/supervisor.ts'
import { meterSandbox } from '../../operations/usage/meter-sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { GONE_KEPT_MS } from './fail-unanswered.ts'
import { notifyWaitingForSandbox } from './notify-waiting.ts'

/** Interval at which the reconciler checks a suspended sandbox, milliseconds. */
export const SUSPENDED_CHECK_MS = 600_000

/**
 * Writes the processes of a sandbox that is `suspending` to its checkpoint and ends them. A repetition writes no second one. If that fails, the sandbox is
 * stopped: its container has the snapshot of its variables and its files, and the next execution names what is lost.
 */
export async function suspendSandbox(deps: PlaceDeps, sandbox: Sandbox): Promise<void> {
  const { table, clock, driver, telemetry } = deps
  const began = clock.now()
  const { id, checkpoint, address, privateKey } = sandbox
  const report = (outcome: string, measured: { readonly bytes: number; readonly detail: string | null }): void =>
    telemetry.emit({ event: 'suspend', outcome, sandbox: id, ...measured, suspend_ms: clock.now() - began })
  try {
    if (driver.suspension === undefined || checkpoint === undefined || address === null)
      throw new DriverError('configuration', 'This platform keeps no processes.')
    const { bytes } = await driver.suspension.suspend({ sandboxId: id, address, privateKey }, checkpoint.id)
    await meterSandbox(deps, sandbox, clock.now())
    const written = { id: checkpoint.id, bytes, takenAt: clock.now() }
    await table.sandboxes.move(
      id,
      { from: ['suspending'] },
      { state: 'suspended', checkpoint: written, dueAt: clock.now() + SUSPENDED_CHECK_MS },
    )
    report('suspended', { bytes, detail: null })
  } catch (cause) {
    // Anything else is repeated.
    if (!(cause instanceof DriverError || cause instanceof SupervisorError || cause instanceof LinkError)) throw cause
    report('failed', { bytes: 0, detail: describeCause(cause) })
    const now = clock.now()
    const change = { state: 'gone', failedStart: { from: now, to: now }, dueAt: now + GONE_KEPT_MS } as const
    // Stopped before the row says so: from then on its container may get another sandbox.
    await driver.stop(id, sandbox.platformId)
    await table.sandboxes.move(id, { from: ['suspending'] }, change)
  }
  await notifyWaitingForSandbox(deps, sandbox, 'started')
}
