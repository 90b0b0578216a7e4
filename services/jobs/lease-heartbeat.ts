import type { Clock } from '../ports/clock.ts'
import { LEASE_MS, LeaseLostError } from './lease.ts'
import type { JobRow } from './job.ts'
import { watchRow } from './watch-row.ts'

/** A working step renews its lease this often, milliseconds. */
const RENEW_MS = 10_000

/** Why a step has to stop: another worker holds its row, the caller cancelled, or the job took too long. */
export type StopReason = 'lost' | 'cancelled' | 'overdue'

export interface LeaseHeartbeat {
  /** Aborts with the first reason to stop. */
  readonly signal: AbortSignal
  /** `lost` replaces every other reason: nothing may be written then. */
  readonly reason: StopReason | null
  /** Reports that another worker holds the row, which the step itself detected. */
  lose(): void
  /** Reads the row now, for a cancellation or another worker's fencing token. */
  checkRow(): Promise<void>
  stop(): void
}

export interface HeartbeatOptions {
  /** Id of the row, for the error that the signal has as its reason. */
  readonly id: string
  readonly clock: Clock
  /** Extends the lease to this time (epoch ms); false when another worker holds the row. */
  readonly renew: (expiresAt: number) => Promise<boolean>
  /** When the job becomes overdue, epoch ms. */
  readonly deadlineAt?: number
  /** Polled for a cancellation. If it is present, an expired lease also counts as lost. */
  readonly watched?: {
    readonly row: Pick<JobRow, 'fence' | 'lease' | 'cancelRequestedAt'>
    readonly read: () => Promise<Pick<JobRow, 'fence' | 'cancelRequestedAt'> | null>
  }
}

/** Renews a lease while a step works. A renewal that fails is repeated; one that is refused stops the step. */
export function startLeaseHeartbeat(options: HeartbeatOptions): LeaseHeartbeat {
  const { id, clock, deadlineAt, watched } = options
  const control = new AbortController()
  let reason: StopReason | null = null
  let expiresAt = watched?.row.lease?.expiresAt ?? clock.now() + LEASE_MS
  const stopFor = (why: StopReason): void => {
    if (reason === null || why === 'lost') reason = why
    control.abort(why === 'lost' ? new LeaseLostError(id) : new DOMException(`The step was stopped: ${why}`, 'AbortError'))
  }

  const renew = async (): Promise<void> => {
    const until = clock.now() + LEASE_MS
    if (await options.renew(until)) expiresAt = until
    else stopFor('lost')
  }
  const renewing = setInterval(() => void (reason === 'lost' || renew().catch(() => undefined)), RENEW_MS)

  const isExpired = (): boolean => clock.now() >= expiresAt
  const watch =
    watched &&
    watchRow({
      read: async () => (isExpired() ? null : watched.read()),
      onRow: (row) => {
        if (row?.fence !== watched.row.fence) stopFor('lost')
        else if (row.cancelRequestedAt !== null) stopFor('cancelled')
        return reason === 'lost'
      },
    })

  const left = deadlineAt === undefined ? null : deadlineAt - clock.now()
  const overdue = left === null ? undefined : setTimeout(() => stopFor('overdue'), Math.max(0, left))
  if (watched !== undefined && watched.row.cancelRequestedAt !== null) stopFor('cancelled')
  else if (left !== null && left <= 0) stopFor('overdue')

  return {
    signal: control.signal,
    get reason() {
      return reason
    },
    lose: () => stopFor('lost'),
    checkRow: async () => watch?.check(),
    stop: () => {
      clearInterval(renewing)
      clearTimeout(overdue)
      watch?.close()
    },
  }
}
