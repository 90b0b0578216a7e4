import type { AnyEvent, EventBatch, EventOwner, ExecutionEvent, ExecutionEventPayload } from '../../core/events.ts'
import type { Execution } from '../../core/executions/execution.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Table } from '../../core/ports/table.ts'
import { LeaseLostError } from './lease-heartbeat.ts'

/**
 * Writes the next place of an execution's event log, which a predecessor may have left in the middle. One that only stood still writes its
 * batches in order, so once its next place is taken nothing of its can follow, however late it wakes. Returns the last batch, which ends with
 * this fact. Throws LeaseLost when a successor has written: then this step is the one that stood still.
 */
export async function fenceEventLog(
  deps: { readonly table: Pick<Table, 'events'>; readonly clock: Clock },
  row: Execution,
  fact: ExecutionEventPayload,
): Promise<EventBatch<ExecutionEvent>> {
  const owner: EventOwner = { kind: 'execution', tenant: row.tenant, id: row.id }
  for (;;) {
    const last = await deps.table.events.last(owner)
    if (last !== null && last.fence > row.fence) throw new LeaseLostError(row.id)
    // A step that died after this very write has sealed it already.
    if (last !== null && row.fence > 1 && isSame(last.events.at(-1), fact)) return last as EventBatch<ExecutionEvent>
    const firstSeq = (last?.events.at(-1)?.seq ?? 0) + 1
    const events = [{ seq: firstSeq, at: deps.clock.now(), ...fact }]
    const batch = { firstSeq, events, fence: row.fence, sourceSeq: last?.sourceSeq ?? null }
    if (await deps.table.events.append(owner, batch)) return batch
  }
}

const isSame = (event: AnyEvent | undefined, fact: ExecutionEventPayload): boolean =>
  fact.type === 'lost' && event?.type === 'lost' && 'reason' in event && event.reason === fact.reason
