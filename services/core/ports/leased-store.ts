import type { LeasedRow } from '../lease.ts'

/** The answer to a step that wants a row for itself. */
export type LeaseResult<Row> =
  | { readonly kind: 'taken'; readonly row: Row }
  /** Somebody else holds an unexpired lease. */
  | { readonly kind: 'busy'; readonly row: Row }
  /** It is free, but it is not what was seen any more: whoever wants it reads it again. */
  | { readonly kind: 'moved'; readonly row: Row }
  /** The status is terminal. */
  | { readonly kind: 'ended'; readonly row: Row }
  | { readonly kind: 'missing' }

/** Fields that a step may set. Identity, lease and fence have verbs of their own. */
export type Patch<Row extends LeasedRow> = Partial<Omit<Row, 'v' | 'tenant' | 'id' | 'lease' | 'fence' | 'createdAt'>>

/** Fields as they were read. A holder changes its row without a new fence, so the fence alone does not tell whether it did. */
export interface Seen {
  readonly fence?: number
  /** Of an execution. */
  readonly sandboxId?: string | null
}

/** Rows that workers advance under a lease. Every verb is one conditional write; reads are consistent. */
export interface LeasedStore<Row extends LeasedRow> {
  /** False when the id exists already; nothing is changed then. */
  create(row: Row): Promise<boolean>
  get(tenant: string, id: string): Promise<Row | null>
  /**
   * Takes the lease if the row has not ended and its lease is free or expired at `now`, adds one to the fence, applies `patch`, sets `dueAt`
   * to the lease's end, and returns the new row. `owner` names one step and no other (one process may get a message twice): the same owner
   * with the same end is the same call, sent again because its answer got lost. `seen`: only a row that still has these values, `moved` otherwise.
   */
  acquireLease(
    tenant: string,
    id: string,
    lease: { owner: string; now: number; expiresAt: number; seen?: Seen },
    patch?: Patch<Row>,
  ): Promise<LeaseResult<Row>>
  /**
   * Writes under the fencing number; null when it is not the row's any more or the row has ended. `release` gives the lease back.
   * `extendTo` moves the lease's end and `dueAt` there. A patch to a terminal status gives the lease back and clears `dueAt` by itself,
   * or sets it to `removeAt`, when the reconciler shall remove the ended row (epoch ms).
   */
  commit(
    tenant: string,
    id: string,
    fence: number,
    patch: Patch<Row>,
    options?: { release?: boolean; extendTo?: number; dueAt?: number; removeAt?: number },
  ): Promise<Row | null>
  /** Marks the wish to cancel on a row that has not ended; returns the row as it is afterwards, null when there is none. */
  requestCancel(tenant: string, id: string, now: number): Promise<Row | null>
  /** Moves `dueAt` of a row that has not ended, so that the reconciler looks again later. Not fenced. */
  postpone(tenant: string, id: string, dueAt: number): Promise<void>
  remove(tenant: string, id: string): Promise<void>
}
