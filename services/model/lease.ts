/** The reconciler processes a row that no worker changed for this time, milliseconds. */
export const RECONCILE_AFTER_MS = 10_000

/**
 * The right to work on one row. `fence` is the fencing token: it grows by one with every holder and each write names it, so a worker that lost
 * its lease can never overwrite its successor.
 */
export interface Lease {
  readonly owner: string
  readonly expiresAt: number
}

/** The common fields of rows that workers advance. */
export interface LeasedRow {
  readonly tenant: string
  readonly id: string
  readonly status: string
  readonly lease: Lease | null
  readonly fence: number
  /** When the reconciler reads the row again if no worker moved it (epoch ms), null once it has ended. */
  readonly dueAt: number | null
}

/** Whether a worker holds the row at `now`, epoch ms. */
export const isLeased = ({ lease }: Pick<LeasedRow, 'lease'>, now: number): boolean => lease !== null && lease.expiresAt > now
