import type { LeasedRow } from '../model/lease.ts'

/** The result of a request for a lease. */
export type LeaseResult<Row> =
  | { readonly kind: 'acquired'; readonly row: Row }
  /** Another owner holds an unexpired lease. */
  | { readonly kind: 'busy'; readonly row: Row }
  /** The lease is free, but the row differs from `seen`: the caller reads it again. */
  | { readonly kind: 'moved'; readonly row: Row }
  /** The status is terminal. */
  | { readonly kind: 'ended'; readonly row: Row }
  | { readonly kind: 'missing' }

/** Fields that a step may set. Dedicated operations set identity, lease and fencing token. */
export type Patch<Row extends LeasedRow> = Partial<Omit<Row, 'v' | 'tenant' | 'id' | 'lease' | 'fence' | 'createdAt'>>

/** Expected field values. A lease holder changes its row without a new fencing token, so the token alone does not prove that the row is unchanged. */
export interface Seen {
  readonly fence?: number
  /** For executions. */
  readonly sandboxId?: string | null
}

/** Rows that workers change under a lease. Every operation is one conditional write; reads are consistent. */
export interface LeasedStore<Row extends LeasedRow> {
  /** False when the id exists already; nothing is changed then. `isDeferred`: the row survives a power failure after the next `flush`. */
  create(row: Row, options?: { readonly isDeferred?: boolean }): Promise<boolean>
  get(tenant: string, id: string): Promise<Row | null>
  /** Reads a row that another worker changes. It may be a moment old, so it never proves that nothing happened; in AWS it costs half of `get`. */
  poll(tenant: string, id: string): Promise<Row | null>
  /**
   * Acquires the lease if the row has not ended and its lease is free or expired at `now`: increments the fencing token, applies `patch`, and
   * returns the new row. It is due at the lease's end, or before: an earlier `dueAt` stays, because its change would cost two index writes. `owner` is unique per step, because a process may receive a message twice: the same
   * owner with the same end is a retry whose answer was lost. With `seen`, the lease is granted only if the row has these values; otherwise the result is `moved`.
   */
  acquireLease(
    row: Pick<Row, 'tenant' | 'id'>,
    lease: { owner: string; now: number; expiresAt: number; seen?: Seen },
    patch?: Patch<Row>,
  ): Promise<LeaseResult<Row>>
  /**
   * Writes under the fencing token; null when the row has another token or has ended. `release` releases the lease.
   * `extendTo` sets the lease's end and `dueAt`. A patch to a terminal status releases the lease and clears `dueAt`,
   * or sets it to `removeAt`, the time at which the reconciler removes the ended row (epoch ms).
   */
  commit(
    row: Pick<Row, 'tenant' | 'id' | 'fence'>,
    patch: Patch<Row>,
    options?: { release?: boolean; extendTo?: number; dueAt?: number; removeAt?: number },
  ): Promise<Row | null>
  /** Records a cancel request on a row that has not ended; returns the row afterwards, null when there is none. */
  requestCancel(tenant: string, id: string, now: number): Promise<Row | null>
  /** Sets `dueAt` of a row that has not ended, so that the reconciler reads it later. Not fenced. */
  postpone(tenant: string, id: string, dueAt: number): Promise<void>
  remove(tenant: string, id: string): Promise<void>
}
