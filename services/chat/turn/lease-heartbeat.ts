import { LEASE_MS, LEASE_RENEW_MS } from '../../core/lease.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Patch } from '../../core/ports/leased-store.ts'
import type { ResponseRecord } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'

/** Why a step has to stop what it does: its row is somebody else's, the caller cancelled, or the turn took too long. */
export type StopReason = 'lost' | 'cancelled' | 'overdue'

/** Thrown when the row belongs to another worker now: the step stops at once and writes nothing more. */
export class LeaseLostError extends Error {
  constructor(id: string) {
    super(`The lease of ${id} was lost`)
    this.name = 'RowLost'
  }
}

export interface LeaseHeartbeat {
  /** Fires with the first reason to stop. */
  readonly signal: AbortSignal
  readonly reason: StopReason | null
  lose(): void
  /** Looks at the row now, for a wish to cancel. */
  look(): Promise<void>
  stop(): void
}

const LOOK_EVERY_MS = 1_000

/** Keeps the lease while a step works and looks for a wish to cancel. `progress` is committed along with each renewal. */
export function startLeaseHeartbeat(deps: TurnDeps, row: ResponseRecord, progress: () => Promise<Patch<ResponseRecord>>): LeaseHeartbeat {
  const { responses } = deps.table
  const control = new AbortController()
  let reason: StopReason | null = null
  const stopFor = (why: StopReason): void => {
    // A lost row outranks everything: nothing may be written then.
    if (reason === null || why === 'lost') reason = why
    control.abort(reason)
  }
  let expiresAt = row.lease?.expiresAt ?? deps.clock.now() + LEASE_MS

  const renew = async (): Promise<void> => {
    const until = deps.clock.now() + LEASE_MS
    const kept = await responses.commit(row.tenant, row.id, row.fence, await progress(), { extendTo: until })
    if (kept === null) stopFor('lost')
    else expiresAt = until
  }
  const look = async (): Promise<void> => {
    if (deps.clock.now() >= expiresAt) return stopFor('lost')
    const present = await responses.get(row.tenant, row.id)
    if (present === null || present.fence !== row.fence) stopFor('lost')
    else if (present.cancelRequestedAt !== null) stopFor('cancelled')
  }
  // A call that fails is made again at the next tick; the lease's end bounds how long that may go on.
  const renewing = setInterval(() => void renew().catch(() => undefined), LEASE_RENEW_MS)
  const looking = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS)
  const left = row.createdAt + LIMITS.maxResponseSeconds * 1000 - deps.clock.now()
  const deadline = setTimeout(() => stopFor('overdue'), Math.max(0, left))
  if (row.cancelRequestedAt !== null) stopFor('cancelled')
  else if (left <= 0) stopFor('overdue')

  return {
    signal: control.signal,
    get reason() {
      return reason
    },
    lose: () => stopFor('lost'),
    look,
    stop: () => {
      clearInterval(renewing)
      clearInterval(looking)
      clearTimeout(deadline)
    },
  }
}
