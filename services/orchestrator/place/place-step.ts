import { nudgeExecution } from '../../core/accept-execution.ts'
import type { PlacementMessage } from '../../core/messages.ts'
import type { PlaceDeps } from '../deps.ts'
import type { Pool } from './pool.ts'
import { startSandbox } from './start-sandbox.ts'

/** Starts, stops and refills: the only steps that talk to the compute API. */
export function createPlaceStep(deps: PlaceDeps, pool: Pool): (message: PlacementMessage) => Promise<void> {
  return async (message) => {
    switch (message.type) {
      case 'sandbox.refill':
        return pool.refill()
      case 'sandbox.stop':
        return stopSandbox(deps, message.sandboxId)
      case 'sandbox.place': {
        const sandbox = await deps.table.sandboxes.get(message.sandboxId)
        if (sandbox?.state === 'starting') await startSandbox(deps, sandbox)
        // Ready or failed: the execution's next step finds out which.
        return nudgeExecution(deps.queue, message.tenant, message.containerId, message.executionId)
      }
    }
  }
}

/** Ends a sandbox for good. The row says `stopping` first, so that a crash in between is repaired. */
export async function stopSandbox(deps: PlaceDeps, sandboxId: string): Promise<void> {
  await deps.table.sandboxes.move(sandboxId, ['starting', 'ready', 'claimed', 'stopping'], { state: 'stopping', dueAt: deps.clock.now() })
  await deps.driver.stop(sandboxId)
  await deps.table.sandboxes.remove(sandboxId)
}
