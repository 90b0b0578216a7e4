import { topicOf } from '../events.ts'
import { EXTENSION_EVENT, extensionData } from './extension-event.ts'
import { newLease } from '../lease.ts'
import type { Clock } from '../ports/clock.ts'
import type { Signals } from '../ports/signals.ts'
import type { Table } from '../ports/table.ts'
import { hasEventStream, responseRemoval, type ResponseRecord } from './response.ts'
import { joinTrace } from '../trace.ts'

interface BuryDeps {
  readonly table: Table
  readonly clock: Clock
  readonly signals: Signals
  /** Names this process in leases. */
  readonly workerId: string
}

/** `busy`: somebody works on it, so it is not dead yet. */
export type DeadLetterOutcome = 'buried' | 'busy'

/** Ends a response that no step gets to its end, unless it has ended. */
export async function failAsDeadLetter(deps: BuryDeps, tenant: string, id: string): Promise<DeadLetterOutcome> {
  const lease = newLease(deps)
  const taken = await deps.table.responses.acquireLease(tenant, id, lease)
  if (taken.kind === 'busy') return 'busy'
  if (taken.kind !== 'taken') return 'buried'
  joinTrace(taken.row.traceparent)
  if (hasEventStream(taken.row) && !(await sealResponse(deps, taken.row))) return 'busy'
  const error = { code: 'dead_letter', message: 'Every try to work on this response failed; the operator finds the cause in the logs.' }
  const end = { status: 'failed', error, completedAt: lease.now } as const
  await deps.table.responses.commit(tenant, id, taken.row.fence, end, { removeAt: responseRemoval(taken.row, lease.now) })
  deps.signals.notify(topicOf('response', id))
  return 'buried'
}

/**
 * Takes the next place of a response's event log, so that nothing of a worker that only stood still can follow its end. False when a successor writes
 * there.
 */
async function sealResponse({ table, clock }: BuryDeps, { tenant, id, fence, tailEvents }: ResponseRecord): Promise<boolean> {
  const owner = { kind: 'response', tenant, id } as const
  for (;;) {
    const last = await table.events.last(owner)
    if (last !== null && last.fence > fence) return false
    const firstSeq = (last?.events.at(-1)?.seq ?? -1) + 1
    // Readers may have the row's tail, so it keeps its numbers.
    const kept = tailEvents.filter((event) => event.seq >= firstSeq)
    const own = { seq: firstSeq + kept.length, at: clock.now(), type: EXTENSION_EVENT, data: extensionData('taken_over', {}) }
    if (await table.events.append(owner, { firstSeq, events: [...kept, own], fence, sourceSeq: null })) return true
  }
}
