import { newId } from '../model/ids.ts'
import { RECONCILE_AFTER_MS, type Lease } from '../model/lease.ts'
import type { Clock } from '../ports/clock.ts'
import type { LeasedStore, LeaseResult, Patch, Seen } from '../ports/leased-store.ts'
import { joinTrace } from '../model/trace.ts'
import type { JobRow } from './job.ts'

/** A lease that is not renewed for this long may be acquired by another worker, milliseconds. */
export const LEASE_MS = 30_000

const RELEASE_ATTEMPTS = 3

/** Another worker holds the row now. The step that meets this error stops and writes nothing more. */
export class LeaseLostError extends Error {
  constructor(id: string) {
    super(`The lease of ${id} was lost`)
    this.name = 'LeaseLostError'
  }
}

/** What a commit does to the lease, besides the patch. */
export type CommitOptions = NonNullable<Parameters<LeasedStore<JobRow>['commit']>[2]>

/** What a process needs to acquire leases; `workerId` names it in them. */
export interface Worker {
  readonly clock: Clock
  readonly workerId: string
}

/** Each acquisition has a unique owner, because two messages for one row in one process must not share a lease. */
function newLease({ clock, workerId }: Worker): Lease & { readonly now: number } {
  const now = clock.now()
  return { owner: `${workerId}/${newId('worker')}`, now, expiresAt: now + LEASE_MS }
}

/** Acquires the lease of a row and joins the trace of its request. `seen`: only while the row still has these values. */
export async function acquireLease<Row extends JobRow>(
  worker: Worker,
  rows: LeasedStore<Row>,
  { tenant, id, patch, seen }: Pick<JobRow, 'tenant' | 'id'> & { readonly patch?: Patch<Row>; readonly seen?: Seen },
): Promise<LeaseResult<Row>> {
  const result = await rows.acquireLease({ tenant, id }, { ...newLease(worker), ...(seen && { seen }) }, patch)
  if (result.kind === 'acquired') joinTrace(result.row.traceparent)
  return result
}

/** Writes under the fencing token and returns the new row. Throws LeaseLostError when another worker holds the row, or it has ended. */
export async function commitLease<Row extends JobRow>(
  rows: LeasedStore<Row>,
  { tenant, id, fence }: Pick<JobRow, 'tenant' | 'id' | 'fence'>,
  { patch, ...options }: { readonly patch: Patch<Row> } & CommitOptions,
): Promise<Row> {
  const row = await rows.commit({ tenant, id, fence }, patch, options)
  if (row === null) throw new LeaseLostError(id)
  return row
}

/**
 * The change of `dueAt` so that a released row is due at `at`, epoch ms: none if it is due before that, because the change would cost two index writes. A
 * renewal of the lease may have moved `dueAt` since `row` was written, by no more than a lease.
 */
export const dueBy = ({ dueAt }: Pick<JobRow, 'dueAt'>, at: number, now: number): { readonly dueAt?: number } =>
  dueAt !== null && now < dueAt && dueAt <= at ? {} : { dueAt: at }

/** Extends the lease to `until`, epoch ms. False when another worker holds the row. */
export async function extendLease<Row extends JobRow>(
  rows: LeasedStore<Row>,
  { tenant, id, fence }: Pick<JobRow, 'tenant' | 'id' | 'fence'>,
  until: number,
): Promise<boolean> {
  return (await rows.commit({ tenant, id, fence }, {}, { extendTo: until })) !== null
}

/**
 * Releases the lease with a last change. Null when another worker holds the row. A failed release is tried again at once, because a row that stays
 * leased waits for the expiry of its lease. Repeating it is safe: no other worker has acquired a row whose fencing token is the same.
 */
export async function releaseLease<Row extends JobRow>(
  { rows, clock }: { readonly rows: LeasedStore<Row>; readonly clock: Clock },
  { tenant, id, fence }: Pick<JobRow, 'tenant' | 'id' | 'fence'>,
  options: { readonly patch?: Patch<Row>; readonly dueAfterMs?: number } = {},
): Promise<Row | null> {
  const { patch = {}, dueAfterMs = RECONCILE_AFTER_MS } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await rows.commit({ tenant, id, fence }, patch, { release: true, dueAt: clock.now() + dueAfterMs })
    } catch (error) {
      if (attempt === RELEASE_ATTEMPTS) throw error
    }
  }
}
