import type { AnyEvent, EventOwner } from '../model/events.ts'
import { LIMITS } from '../model/limits.ts'
import type { Clock } from '../ports/clock.ts'
import type { Signals } from '../ports/signals.ts'
import type { Table } from '../ports/table.ts'
import { POLL_MS } from './wait-for-row.ts'

/** What a stream holds while its reader does not read. */
const BATCH = { events: 200, bytes: LIMITS.maxEventReadBytes }
/** Polling interval for live events, which cause no signal, milliseconds. */
const LIVE_MS = 400

export interface LogPorts {
  readonly table: { readonly events: Pick<Table['events'], 'read' | 'last'> }
  readonly signals: Signals
  readonly clock: Clock
  readonly config: { readonly heartbeatMs: number }
}

export interface LogToFollow<Row, E> extends LogPorts {
  readonly owner: EventOwner
  readonly topic: string
  readonly read: () => Promise<Row | null>
  readonly hasEnded: (row: Row) => boolean
  /** The number of the last event that the reader has. */
  readonly after: number
  readonly signal: AbortSignal
  readonly isLast: (event: E) => boolean
  /** Creates the last event of a log whose writer crashed before it wrote one. */
  readonly lastOf: (row: Row, seq: number) => E | Promise<E>
  /** Events that will be in the log under these numbers; requested when the log has nothing new. Null: there can be none. */
  readonly live?: (row: Row, last: number) => Promise<readonly E[] | null>
}

/**
 * Events in order as they are written, the row's tail after those of the log, until the last one. Yields null when no event came
 * during a heartbeat interval. It subscribes before it reads, and reads the row before the log, so the log of an ended row is complete.
 * The last event is yielded only when the row has ended, because a reader must not see an end that can still change.
 */
export async function* followLog<Row extends { readonly tailEvents: readonly E[] }, E extends AnyEvent>(
  log: LogToFollow<Row, E>,
): AsyncGenerator<E | null, void, undefined> {
  const subscription = log.signals.subscribe(log.topic)
  let last = log.after
  // A terminal event in the log counts only when the row has ended and the log continues with nothing else.
  let end: E | null = null
  let spokeAt = log.clock.now()
  // A reader that has left ends the wait at once.
  const stopWaiting = (): void => subscription.close()
  log.signal.addEventListener('abort', stopWaiting, { once: true })
  try {
    while (!log.signal.aborted) {
      const row = await log.read()
      if (row === null) return
      const ended = log.hasEnded(row)
      const before = last
      for (let batch = await readBatch(log, last); batch.length > 0; batch = await readBatch(log, last)) {
        for (const event of batch) {
          last = event.seq
          end = log.isLast(event) ? event : null
          if (end === null) yield event
        }
        spokeAt = log.clock.now()
      }
      for (const event of row.tailEvents) {
        if (event.seq <= last) continue
        last = event.seq
        end = null
        spokeAt = log.clock.now()
        yield event
        if (log.isLast(event)) return
      }
      if (ended) {
        if (end !== null) yield end
        else if (!(await isComplete(log, row))) yield await log.lastOf(row, last + 1)
        return
      }
      const live = log.live === undefined || last > before ? null : await log.live(row, last)
      for (const event of live ?? []) {
        last = event.seq
        spokeAt = log.clock.now()
        yield event
      }
      await subscription.next(Math.min(live === null ? POLL_MS : LIVE_MS, log.config.heartbeatMs))
      if (log.clock.now() - spokeAt >= log.config.heartbeatMs) {
        spokeAt = log.clock.now()
        yield null
      }
    }
  } finally {
    log.signal.removeEventListener('abort', stopWaiting)
    subscription.close()
  }
}

const readBatch = <Row, E extends AnyEvent>(log: LogToFollow<Row, E>, after: number): Promise<readonly E[]> =>
  log.table.events.read<E>(log.owner, after, BATCH)

/** Whether the last event has been written; a reader may have it already. */
async function isComplete<Row extends { readonly tailEvents: readonly E[] }, E extends AnyEvent>(
  log: LogToFollow<Row, E>,
  row: Row,
): Promise<boolean> {
  if (row.tailEvents.some((event) => log.isLast(event))) return true
  return (await log.table.events.last(log.owner))?.events.some((event) => log.isLast(event as E)) ?? false
}
