import { isDeepStrictEqual } from 'node:util'
import { FIRST_LOGGED_SEQ, type EventBatch, type EventOwner, type EventPayload } from '../model/events.ts'
import type { ExecutionProgressPayload } from '../model/executions/events/event-types.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Numbered } from './event-log-writer.ts'
import { LeaseLostError } from './lease.ts'

/**
 * Writes the next position of an event log, so that a predecessor that was only paused can append nothing more: it writes its batches in
 * order, and its next position is taken. Returns the last batch, which ends with `payload`. Throws LeaseLostError when a worker with a higher
 * fencing token has written.
 */
export async function fenceEventLog<P extends EventPayload | ExecutionProgressPayload>(
  deps: { readonly events: EventStore; readonly clock: Clock },
  owner: EventOwner,
  options: {
    readonly fence: number
    readonly payload: P
    /** The last events as the row has them: readers may know them, so they keep their numbers. */
    readonly tail?: readonly Numbered<P>[]
    /** Nothing is written when the log ends with this payload already: the step before this one wrote it and stopped. */
    readonly isWrittenOnce?: boolean
  },
): Promise<EventBatch<Numbered<P>>> {
  const { fence, payload, tail = [], isWrittenOnce = false } = options
  for (;;) {
    const last = (await deps.events.last(owner)) as EventBatch<Numbered<P>> | null
    if (last !== null && last.fence > fence) throw new LeaseLostError(owner.id)
    const lastEvent = last?.events.at(-1)
    if (last !== null && lastEvent !== undefined && isWrittenOnce && isEvent(lastEvent, payload)) return last
    const firstSeq = (lastEvent?.seq ?? FIRST_LOGGED_SEQ[owner.kind] - 1) + 1
    const kept = tail.filter((event) => event.seq >= firstSeq)
    const events = [...kept, { seq: firstSeq + kept.length, at: deps.clock.now(), ...payload }]
    const batch = { firstSeq, events, fence, sourceSeq: last?.sourceSeq ?? null }
    if (await deps.events.append(owner, batch as unknown as EventBatch)) return batch
  }
}

const isEvent = (event: Numbered<EventPayload | ExecutionProgressPayload>, payload: EventPayload | ExecutionProgressPayload): boolean =>
  isDeepStrictEqual(event, { seq: event.seq, at: event.at, ...payload })
