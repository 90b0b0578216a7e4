import { describeCause } from '../../model/describe-cause.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { DriverError } from '../../ports/sandbox-driver.ts'
import { LinkError } from '../../ports/sandbox-link.ts'
import { SupervisorError } from '../../ports/supervisor.ts'
import { holderOf } from '../../operations/sandboxes/holder-of.ts'
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
  const { id, checkpoint } = sandbox
  const report = (outcome: string, measured: { readonly bytes: number; readonly detail: string | null }): void =>
    telemetry.emit({ event: 'suspend', outcome, sandbox: id, ...measured, suspend_ms: clock.now() - began })
  try {
    const { bytes } = await writeCheckpoint(driver, sandbox)
    await meterSandbox(deps, sandbox, { until: clock.now(), holder: await holderOf(table, sandbox) })
    const written = { id: checkpoint?.id ?? '', bytes, takenAt: clock.now() }
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

/** From its processes, or from the checkpoint of the sandbox that it is a copy of. */
function writeCheckpoint(
  { suspension }: PlaceDeps['driver'],
  { id, checkpoint, address, privateKey, publicKey }: Sandbox,
): Promise<{ readonly bytes: number }> {
  if (suspension === undefined || checkpoint === undefined) throw new DriverError('configuration', 'This platform keeps no processes.')
  if (checkpoint.copyOf !== undefined)
    return suspension.copy({ sandboxId: checkpoint.copyOf, checkpointId: checkpoint.id }, { sandboxId: id, publicKey })
  if (address === null) throw new DriverError('unavailable', 'The sandbox never ran.')
  return suspension.suspend({ sandboxId: id, address, privateKey }, checkpoint.id)
}
