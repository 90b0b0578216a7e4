import { endCancelled } from './end-without-result.ts'
import type { EndDeps } from './end-execution.ts'
import { topicOf } from '../../model/events.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { currentTrace, inTrace, parseTraceparent } from '../../model/trace.ts'
import { acquireLease, LeaseLostError } from '../../jobs/lease.ts'
import { notifyExecution } from '../notify/notify-execution.ts'

export type CancelPorts = EndDeps

/**
 * Requests that an execution or a command ends; idempotent. Every cancellation takes this way. One that no sandbox has received ends immediately; for
 * any other the worker that holds the lease, or the next one, interrupts the code. Returns the row afterwards, null when there is none.
 */
export async function cancelExecution(
  ports: CancelPorts,
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<Execution | null> {
  const requested = await ports.table.executions.requestCancel(tenant, id, ports.clock.now())
  if (requested === null || hasEnded(requested.status)) return requested
  // The row's trace: acquiring a lease joins it, and the log line of this request keeps its own.
  const trace = parseTraceparent(requested.traceparent) ?? currentTrace()
  const ended = requested.sandboxId === null ? await inTrace(trace, () => endUnsent(ports, requested)) : null
  if (ended !== null) return ended
  ports.signals.notify(topicOf('execution', id))
  // For an execution without a lease the message starts a step.
  await notifyExecution(ports.queue, { tenant, containerId: requested.containerId, id })
  return requested
}

/** Null when a worker holds the lease, or a sandbox may have received the code. */
async function endUnsent(ports: CancelPorts, requested: Execution): Promise<Execution | null> {
  const { tenant, id } = requested
  const worker = { clock: ports.clock, workerId: 'cancel' }
  const acquired = await acquireLease(worker, ports.table.executions, { tenant, id, seen: { sandboxId: null } })
  if (acquired.kind === 'ended') return acquired.row
  if (acquired.kind !== 'acquired') return null
  try {
    return await endCancelled(ports, acquired.row, 'It was cancelled before it started.')
  } catch (cause) {
    if (cause instanceof LeaseLostError) return null
    throw cause
  }
}
