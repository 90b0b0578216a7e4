import { admitsShare } from './share.ts'

/** Ends are rounded up to this, so that a row has few of them. */
const ROUND_MS = 10_000
/** Tenants with fewer calls than this part of the capacity are always admitted, and are not in the row of all tenants. */
const STEP_PART = 1 / 32

export interface Published {
  readonly held: number
  /** The number counts until then, epoch ms. */
  readonly until: number
}

/** The open calls of one tenant. A call whose process died counts until its end. */
export interface OpenCalls {
  /** Number of calls by the time at which their hold ends, epoch ms. */
  readonly ends: Readonly<Record<string, number>>
  /** What the row of all tenants says about this one. */
  readonly published: Published
}
export const NO_OPEN_CALLS: OpenCalls = { ends: {}, published: { held: 0, until: 0 } }

/** The row of all tenants. */
export interface CallPool {
  readonly tenants: Readonly<Record<string, Published>>
}
export const EMPTY_POOL: CallPool = { tenants: {} }

export const stepOf = (capacity: number): number => Math.max(1, Math.ceil(capacity * STEP_PART))
export const roundEnd = (at: number): number => Math.ceil(at / ROUND_MS) * ROUND_MS

export const heldCalls = ({ ends }: OpenCalls, now: number): number =>
  Object.entries(ends).reduce((sum, [end, count]) => (Number(end) > now ? sum + count : sum), 0)

/** The calls of all tenants but one. */
export const heldByOthers = ({ tenants }: CallPool, tenant: string, now: number): number =>
  Object.entries(tenants).reduce((sum, [name, { held, until }]) => (name !== tenant && until > now ? sum + held : sum), 0)

/** Whether a tenant may open one more call, or keep one of them open for longer. */
export const admitsCall = (held: number, { others, capacity }: { readonly others: number; readonly capacity: number }): boolean =>
  held < stepOf(capacity) || admitsShare({ held: held + others, heldByTenant: held, capacity })

/** Adds a call with this end, or removes one; ends that have passed are dropped. */
export function changeCalls(
  calls: OpenCalls,
  { add, remove, now }: { readonly add?: number; readonly remove?: number; readonly now: number },
): OpenCalls {
  const ends: Record<string, number> = {}
  for (const [end, count] of Object.entries(calls.ends)) {
    const left = count - (remove === Number(end) ? 1 : 0)
    if (left > 0 && Number(end) > now) ends[end] = left
  }
  if (add !== undefined) ends[add] = (ends[add] ?? 0) + 1
  return { ...calls, ends }
}

/** What the row of all tenants has to say about this one now; null while it is near enough to what it says. */
export function toPublish(
  calls: OpenCalls,
  { now, capacity, holdMs }: { readonly now: number; readonly capacity: number; readonly holdMs: number },
): Published | null {
  const { published } = calls
  const known = published.until > now ? published.held : 0
  const held = heldCalls(calls, now)
  const isNear = Math.abs(held - known) < stepOf(capacity)
  const isFresh = known === 0 || published.until > now + holdMs / 2
  return isNear && isFresh ? null : { held: held < stepOf(capacity) ? 0 : held, until: now + holdMs }
}

export function publishIn(
  pool: CallPool,
  tenant: string,
  { published, now }: { readonly published: Published; readonly now: number },
): CallPool {
  const others = Object.entries(pool.tenants).filter(([name, { until }]) => name !== tenant && until > now)
  return { tenants: Object.fromEntries(published.held === 0 ? others : [...others, [tenant, published]]) }
}
