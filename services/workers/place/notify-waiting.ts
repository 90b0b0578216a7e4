import { readyJobsIn } from '../../model/containers/container.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { PlaceDeps } from '../deps.ts'

/** Delay between a failed start and the next one for the same execution, seconds: half of the time since the first attempt, within these bounds. */
const RETRY_START_SECONDS = { min: 3, max: 30 } as const

/**
 * Delay after the platform has reported that a sandbox runs, seconds: its supervisor needs at least this long for its self-test and its first kernel. A step
 * without the delay would occupy a function for that time.
 */
const SUPERVISOR_SECONDS = 2

/** `running`: just now, and its supervisor may not answer yet. */
type StartOutcome = 'started' | 'running' | 'failed'

/** Enqueues the execution that waits for this sandbox, if a container claimed it, and commands that were suspended with it; after a failed start with a delay. */
export async function notifyWaitingForSandbox(
  deps: Pick<PlaceDeps, 'table' | 'queue' | 'clock'>,
  sandbox: Sandbox,
  outcome: StartOutcome,
): Promise<void> {
  if (sandbox.claimedBy === null) return
  const { tenant, containerId } = sandbox.claimedBy
  const container = await deps.table.containers.get(tenant, containerId)
  if (container === null) return
  const waiting = sandbox.checkpoint === undefined ? container.queue.slice(0, 1) : readyJobsIn(container)
  for (const executionId of waiting) await notifyStep(deps, { tenant, containerId, executionId }, outcome)
}

/** Enqueues this execution; after a failed start with a delay, because its step requests another start. */
export async function notifyStep(
  deps: Pick<PlaceDeps, 'table' | 'queue' | 'clock'>,
  { tenant, containerId, executionId }: { readonly tenant: string; readonly containerId: string; readonly executionId: string },
  outcome: StartOutcome,
): Promise<void> {
  const delaySeconds =
    outcome === 'failed' ? await backOffSeconds(deps, tenant, executionId) : outcome === 'running' ? SUPERVISOR_SECONDS : undefined
  await deps.queue.send(
    'executions',
    { v: 1, type: 'execution.step', tenant, containerId, executionId },
    { group: tenant, ...(delaySeconds === undefined ? {} : { delaySeconds }) },
  )
}

async function backOffSeconds({ table, clock }: Pick<PlaceDeps, 'table' | 'clock'>, tenant: string, executionId: string): Promise<number> {
  const now = clock.now()
  const since = (await table.executions.get(tenant, executionId))?.startsFailSince ?? now
  return Math.min(RETRY_START_SECONDS.max, Math.max(RETRY_START_SECONDS.min, (now - since) / 2000))
}
