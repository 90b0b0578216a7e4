import { topicOf, type ResponseEvent } from '../../model/events.ts'
import type { Patch } from '../../ports/leased-store.ts'
import { hasInlineImages } from '../../operations/turns/inline-images.ts'
import { hasEventStream, terminalEventOf, type ResponseRecord } from '../../model/responses/response.ts'
import { commitLease, dueBy, extendLease, type CommitOptions } from '../../jobs/lease.ts'
import { publishResponseEnd } from '../../operations/webhooks/publish-event.ts'
import { reviewAt } from '../../operations/webhooks/review-at.ts'
import type { TurnDeps } from './deps.ts'
import type { TerminalStatus } from './next-action.ts'
import type { Turn, TurnSnapshot } from './turn.ts'

/** Maximum size of events in the row of a running turn, bytes of JSON. It is small, because each write of the row costs as much as the whole row. */
const MAX_TAIL_BYTES = 4 * 1024
/** Maximum size of events, and of the terminal event, in the row of an ended turn, bytes of JSON. */
const MAX_LAST_TAIL_BYTES = 32 * 1024

type StoreDeps = Pick<TurnDeps, 'table' | 'signals' | 'clock' | 'queue'>

/** Commits the turn and keeps the lease; returns the row. Throws LeaseLostError. */
export const saveTurn = (deps: StoreDeps, turn: Turn, patch: Patch<ResponseRecord> = {}): Promise<ResponseRecord> =>
  commit(deps, turn, { patchOf: () => patch })

/** Commits the turn and releases the lease; returns the row. The next step need not read the log. Throws LeaseLostError. */
export const releaseTurn = (deps: StoreDeps, turn: Turn, dueAfterMs: number): Promise<ResponseRecord> => {
  const now = deps.clock.now()
  return commit(deps, turn, {
    patchOf: () => ({ stepsFailSince: null, ...(turn.log.isFenced && { checkpointedFence: turn.row.fence }) }),
    lease: { release: true, ...dueBy(turn.row, now + dueAfterMs, now) },
  })
}

/**
 * Commits the terminal state with the last events. The log must be fenced. If the terminal event is too large for the row, readers synthesize it from the
 * row. Returns the row. Throws LeaseLostError.
 */
export async function commitEnd(deps: StoreDeps, turn: Turn, status: TerminalStatus): Promise<void> {
  const { row, log } = turn
  const { events, nextSeq } = await log.end(MAX_LAST_TAIL_BYTES)
  const { patch } = turn.snapshot()
  const completedAt = deps.clock.now()
  const last = terminalEvents(turn, { status, completedAt }, nextSeq)
  const tailEvents = [...events, ...last]
  const end = { ...(await patch()), status, completedAt, nextSeq: nextSeq + last.length, tailEvents }
  const removeAt = await reviewAt(deps, row, completedAt)
  const ended = await commitLease(deps.table.responses, row, { patch: end, removeAt })
  deps.signals.notify(topicOf('response', row.id), ended)
  // If this fails, the reconciler repeats it, because the row is due.
  await publishResponseEnd(deps, ended).catch(() => undefined)
}

/** The terminal event; none when it does not fit into the row, as with data URLs of images, or when the response has no events. */
function terminalEvents(
  turn: Turn,
  end: { readonly status: TerminalStatus; readonly completedAt: number },
  seq: number,
): readonly ResponseEvent[] {
  const { request } = turn.row
  if (!hasEventStream(turn.row) || hasInlineImages(turn.state.items, request.include)) return []
  const response = turn.render(end)
  if (Buffer.byteLength(JSON.stringify(response)) > MAX_LAST_TAIL_BYTES) return []
  return [{ seq, at: end.completedAt, type: terminalEventOf(end.status), data: { response } }]
}

/**
 * Extends the lease to `extendTo`, epoch ms, and commits the snapshot if the row has nothing newer and the log has all its events. A commit that is
 * under way is not waited for: it is newer, and the lease must not expire meanwhile. False when another worker holds the row.
 */
export async function renewTurn(
  { table: { responses } }: Pick<StoreDeps, 'table'>,
  turn: Turn,
  { snapshot, extendTo }: { readonly snapshot: TurnSnapshot; readonly extendTo: number },
): Promise<boolean> {
  const { tenant, id, fence } = turn.row
  const isNewer = snapshot.changes > turn.committedChanges && turn.log.writtenSeq >= snapshot.nextSeq
  if (!isNewer || turn.commits.activeCount > 0) return extendLease(responses, turn.row, extendTo)
  return turn.commits(async () => {
    const isMine = (await responses.commit({ tenant, id, fence }, await snapshot.patch(), { extendTo })) !== null
    turn.committedChanges = snapshot.changes
    return isMine
  })
}

/** What a commit writes besides the turn. */
interface Extra {
  /** Called when the tail of the log has been copied. */
  readonly patchOf: () => Patch<ResponseRecord>
  readonly lease?: CommitOptions
}

const commit = (deps: StoreDeps, turn: Turn, { patchOf, lease }: Extra): Promise<ResponseRecord> =>
  turn.commits(async () => {
    const tailEvents = await turn.log.copyTail(MAX_TAIL_BYTES)
    const snapshot = turn.snapshot()
    const patch = { ...(await snapshot.patch()), tailEvents, ...patchOf() }
    const row = await commitLease(deps.table.responses, turn.row, { patch, ...lease })
    turn.committedChanges = snapshot.changes
    turn.noteCommit(row)
    if (tailEvents.length > 0) deps.signals.notify(topicOf('response', row.id))
    return row
  })
