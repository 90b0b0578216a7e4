import { notifyExecution, RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import { describeCause } from '../../core/describe-cause.ts'
import type { Execution } from '../../core/executions/execution.ts'
import { backOffAfterFailure } from '../../core/back-off.ts'
import type { RunDeps } from '../deps.ts'
import { endDeadLetter } from './end-without-result.ts'

/**
 * A step that failed gives its lease back, for nobody works under it, and a fresh message tries again, later each time. A job that nothing but failing
 * steps have come to for long ends. False when neither can be done; then the step's own message comes again, and the lease runs out.
 */
export async function rescheduleStep(deps: RunDeps, taken: Execution, cause: unknown): Promise<boolean> {
  const { queue, clock, table, telemetry } = deps
  const { tenant, containerId, id, fence } = taken
  const now = clock.now()
  const stepsFailSince = taken.stepsFailSince ?? now
  const { retriesExhausted, againInSeconds } = backOffAfterFailure(stepsFailSince, now)
  const again = retriesExhausted ? null : againInSeconds
  telemetry.emit({
    event: 'run_step',
    outcome: 'error',
    tenant,
    execution: id,
    fence,
    again_in_seconds: again,
    detail: describeCause(cause),
  })
  try {
    if (retriesExhausted) {
      await endDeadLetter(deps, taken)
      return true
    }
    const dueAt = now + againInSeconds * 1000 + RECONCILE_AFTER_MS
    if ((await table.executions.commit(tenant, id, fence, { stepsFailSince }, { release: true, dueAt })) === null) return false
  } catch {
    return false
  }
  await notifyExecution(queue, tenant, containerId, id, { delaySeconds: againInSeconds })
  return true
}
