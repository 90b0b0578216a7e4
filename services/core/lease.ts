import { newId } from './ids.ts'
import type { Clock } from './ports/clock.ts'

/** How long a step may be silent before another worker may take its row, in milliseconds. */
export const LEASE_MS = 30_000
/** A working step renews its lease this often, in milliseconds. */
export const LEASE_RENEW_MS = 10_000

/**
 * The right to work on one row. `fence` grows by one with every holder; each write names the number it was given,
 * so a worker that lost its lease can never overwrite its successor.
 */
export interface Lease {
  readonly owner: string
  readonly expiresAt: number
}

/** What a step asks for: an owner of its own, because two messages for one row in one process must not share a lease. */
export function newLease({ clock, workerId }: { readonly clock: Clock; readonly workerId: string }): Lease & { readonly now: number } {
  const now = clock.now()
  return { owner: `${workerId}/${newId('worker')}`, now, expiresAt: now + LEASE_MS }
}

/** What every row that workers advance has in common. */
export interface LeasedRow {
  readonly tenant: string
  readonly id: string
  readonly status: string
  readonly lease: Lease | null
  readonly fence: number
  /** When the reconciler looks at the row if nobody else moved it (epoch ms), null once it has ended. */
  readonly dueAt: number | null
}
