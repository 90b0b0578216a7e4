import type { PlacementMessage } from '../../core/messages.ts'
import { DriverError } from '../../core/ports/sandbox-driver.ts'
import type { PlaceDeps } from '../deps.ts'
import { notifyStep, notifyWaiting } from './notify-waiting.ts'
import type { Pool } from './pool.ts'
import { startSandbox } from './start-sandbox.ts'
import { stopSandbox } from './stop-sandbox.ts'

/** A throttled call is repeated after a random time up to this, seconds. Many waiting calls then keep the platform's rate in use. */
const THROTTLED_SECONDS = 4

/** Starts, stops and refills: the only steps that talk to the compute API. */
export function createPlaceStep(deps: PlaceDeps, pool: Pool): (message: PlacementMessage) => Promise<void> {
  const perform = createAction(deps, pool)
  return async (message) => {
    try {
      await perform(message)
    } catch (cause) {
      if (!(cause instanceof DriverError && cause.kind === 'throttled')) throw cause
      deps.telemetry.emit({ event: 'platform_throttled', outcome: 'again', message: message.type, detail: cause.message })
      const group = 'tenant' in message ? message.tenant : '_pool'
      await deps.queue.send('placements', message, { group, delaySeconds: 1 + Math.random() * (THROTTLED_SECONDS - 1) })
    }
  }
}

const createAction =
  (deps: PlaceDeps, pool: Pool) =>
  async (message: PlacementMessage): Promise<void> => {
    switch (message.type) {
      case 'sandbox.refill':
        return pool.refill()
      case 'sandbox.stop':
        return stopSandbox(deps, message.sandboxId)
      case 'sandbox.start': {
        const sandbox = await deps.table.sandboxes.get(message.sandboxId)
        if (sandbox?.state !== 'starting' || sandbox.launchedAt !== undefined) return
        const started = await startSandbox(deps, sandbox)
        // A container may have reserved it meanwhile.
        if (started === null) await notifyWaiting(deps, (await deps.table.sandboxes.get(sandbox.id)) ?? sandbox, 'failed')
        else if (started.state !== 'starting') await notifyWaiting(deps, started, 'started')
        return
      }
      case 'sandbox.place': {
        const sandbox = await deps.table.sandboxes.get(message.sandboxId)
        // Launched by an earlier delivery: an event reports the rest.
        if (sandbox?.state === 'starting' && sandbox.launchedAt !== undefined) return
        const started = sandbox?.state === 'starting' ? await startSandbox(deps, sandbox) : sandbox
        if (started?.state === 'starting') return
        // The execution's next step finds out how it went; after a failure it asks for another start, so not at once.
        return notifyStep(deps, message, sandbox?.state === 'starting' && started === null ? 'failed' : 'started')
      }
    }
  }
