import { topicOf } from '../../core/events.ts'
import type { LeasedStore, Patch } from '../../core/ports/leased-store.ts'
import type { ResponseRecord } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'
import { LeaseLostError } from '../../jobs/lease.ts'
import type { Turn } from './turn.ts'

/** Events up to this many bytes of JSON ride in a row that is worked on: each of its writes costs what the whole row has. */
const MAX_KEPT_BYTES = 4 * 1024

/** Commits what the turn has come to, and keeps the row; returns it. Throws LeaseLostError. */
export const saveTurn = (deps: TurnDeps, turn: Turn, change: Patch<ResponseRecord> = {}): Promise<ResponseRecord> =>
  commit(deps, turn, () => change)

/** Gives the row back with all that the turn has come to, so that its successor need not read the log; returns it. Throws LeaseLostError. */
export const releaseTurn = (deps: TurnDeps, turn: Turn, dueAfterMs: number): Promise<ResponseRecord> =>
  commit(deps, turn, () => ({ stepsFailSince: null, ...(turn.isSealed && { checkpointedFence: turn.row.fence }) }), {
    release: true,
    dueAt: deps.clock.now() + dueAfterMs,
  })

async function commit(
  deps: TurnDeps,
  turn: Turn,
  changeOf: () => Patch<ResponseRecord>,
  options?: Parameters<LeasedStore<ResponseRecord>['commit']>[4],
): Promise<ResponseRecord> {
  const { tenant, id, fence } = turn.row
  const tailEvents = await turn.tail(MAX_KEPT_BYTES)
  const patch = { ...(await turn.snapshot().patch()), tailEvents, ...changeOf() }
  const row = await deps.table.responses.commit(tenant, id, fence, patch, options)
  if (row === null) throw new LeaseLostError(id)
  turn.noteCommit(row)
  if (tailEvents.length > 0) deps.signals.notify(topicOf('response', id))
  return row
}
