import type { PlacementMessage } from '../../core/messages.ts'
import type { PlaceDeps } from '../deps.ts'
import type { Pool } from './pool.ts'
import { startSandbox } from './start-sandbox.ts'
import { stopSandbox } from './stop-sandbox.ts'

/** Between a start that failed and the next one for the same execution, seconds: half as long as it has been tried for, within these bounds. */
const RETRY_START_SECONDS = { min: 3, max: 30 } as const

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
        const { tenant, containerId, executionId } = message
        const hasFailed = sandbox?.state === 'starting' && (await startSandbox(deps, sandbox)) === null
        // The execution's next step finds out how it went; after a failure it asks for another start, so not at once.
        return deps.queue.send(
          'executions',
          { v: 1, type: 'execution.step', tenant, containerId, executionId },
          { group: tenant, ...(hasFailed ? { delaySeconds: await backOffSeconds(deps, tenant, executionId) } : {}) },
        )
      }
    }
  }
}

async function backOffSeconds({ table, clock }: PlaceDeps, tenant: string, executionId: string): Promise<number> {
  const now = clock.now()
  const since = (await table.executions.get(tenant, executionId))?.startsFailSince ?? now
  return Math.min(RETRY_START_SECONDS.max, Math.max(RETRY_START_SECONDS.min, (now - since) / 2000))
}
