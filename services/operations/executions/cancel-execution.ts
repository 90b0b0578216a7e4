import { notifyExecution } from '../notify/notify-execution.ts'
import { topicOf } from '../../model/events.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { currentTrace, inTrace, parseTraceparent } from '../../model/trace.ts'
import { endCancelled } from './end-without-result.ts'
import { acquireLease, LeaseLostError } from '../../jobs/lease.ts'
import type { Table } from '../../ports/table.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Signals } from '../../ports/signals.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

export type CancelDeps = {
  readonly table: Table
  readonly queue: Queue
  readonly signals: Signals
  readonly objects: ObjectStore
  readonly clock: Clock
  readonly telemetry: Telemetry
}

/**
 * Requests that an execution ends; idempotent. One that no sandbox has received ends immediately; for any other the worker that holds the lease,
 * or the next one, interrupts the code. Returns the row afterwards, null when there is none.
 */
export async function cancelExecution(deps: CancelDeps, tenant: string, id: string): Promise<Execution | null> {
  const requested = await deps.table.executions.requestCancel(tenant, id, deps.clock.now())
  if (requested === null || hasEnded(requested.status)) return requested
  // The row's trace: acquiring a lease joins it, and the log line of this request keeps its own.
  const trace = parseTraceparent(requested.traceparent) ?? currentTrace()
  const ended = requested.sandboxId === null ? await inTrace(trace, () => endUnsent(deps, requested)) : null
  if (ended !== null) return ended
  deps.signals.notify(topicOf('execution', id))
  // For an execution without a lease the message starts a step.
  await notifyExecution(deps.queue, tenant, requested.containerId, id)
  return requested
}

/** Null when a worker holds the lease, or a sandbox may have received the code. */
async function endUnsent(deps: CancelDeps, requested: Execution): Promise<Execution | null> {
  const acquired = await acquireLease({ clock: deps.clock, workerId: 'api' }, deps.table.executions, requested, {
    seen: { sandboxId: null },
  })
  if (acquired.kind === 'ended') return acquired.row
  if (acquired.kind !== 'acquired') return null
  try {
    return await endCancelled(deps, acquired.row, 'It was cancelled before it started.')
  } catch (cause) {
    if (cause instanceof LeaseLostError) return null
    throw cause
  }
}
