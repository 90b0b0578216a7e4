/** Weight of the last execution in the average duration. */
const LAST_WEIGHT = 0.2
/** Entries of executions whose end was never recorded are dropped after this time, milliseconds: longer than any execution runs. */
const MAX_AGE_MS = 3 * 3_600_000
/** Waiting executions beyond this many are found by the reconciler instead; it bounds the size of the row. */
const MAX_WAITING = 2_000

export interface WaitingExecution {
  readonly executionId: string
  readonly containerId: string
}

/** Executions of one tenant that hold one of its `cap` slots, and those that wait for one in the order of their requests. */
export interface ExecutionShare {
  readonly cap: number
  /** The time at which each execution received its slot, epoch ms. */
  readonly running: Readonly<Record<string, number>>
  readonly waiting: readonly WaitingExecution[]
  /** Moving average of the time that an execution holds its slot, milliseconds; absent before the first end. */
  readonly meanMs?: number
}

export const EMPTY_SHARE: ExecutionShare = { cap: 0, running: {}, waiting: [] }

/** Gives the execution a slot if one is free and no other waits for it. A repetition changes nothing. */
export function enterShare(
  share: ExecutionShare,
  entry: WaitingExecution,
  { cap, now }: { readonly cap: number; readonly now: number },
): ExecutionShare {
  const isLive = ([, since]: readonly [string, number]): boolean => now - since < MAX_AGE_MS
  const running = Object.fromEntries(Object.entries(share.running).filter(isLive))
  const { executionId } = entry
  if (executionId in running) return { ...share, running, cap }
  const others = share.waiting.filter((waiting) => waiting.executionId !== executionId)
  const isNext = others.length === share.waiting.length ? others.length === 0 : share.waiting[0]?.executionId === executionId
  if (Object.keys(running).length < cap && isNext) return { ...share, cap, running: { ...running, [executionId]: now }, waiting: others }
  const isKnown = others.length < share.waiting.length
  return { ...share, cap, running, waiting: isKnown || others.length >= MAX_WAITING ? share.waiting : [...share.waiting, entry] }
}

/** Frees the slot of an ended execution, and gives free slots to those that wait. */
export function leaveShare(
  share: ExecutionShare,
  executionId: string,
  now: number,
): { readonly share: ExecutionShare; readonly admitted: readonly WaitingExecution[] } {
  const { [executionId]: since, ...running } = share.running
  const waiting = share.waiting.filter((other) => other.executionId !== executionId)
  const free = Math.max(0, share.cap - Object.keys(running).length)
  const admitted = waiting.slice(0, free)
  const slots = Object.fromEntries(admitted.map((entry) => [entry.executionId, now]))
  const meanMs = since === undefined ? share.meanMs : averageOf(share.meanMs, Math.max(0, now - since))
  const average = meanMs === undefined ? {} : { meanMs }
  return { share: { ...share, ...average, running: { ...running, ...slots }, waiting: waiting.slice(free) }, admitted }
}

const averageOf = (mean: number | undefined, last: number): number =>
  Math.round(mean === undefined ? last : mean + LAST_WEIGHT * (last - mean))

/** Executions that get a slot before this one; null when it does not wait for one. */
export function slotPosition({ waiting }: Pick<ExecutionShare, 'waiting'>, executionId: string): number | null {
  const position = waiting.findIndex((entry) => entry.executionId === executionId)
  return position === -1 ? null : position
}

/**
 * An estimate of the time until an execution starts, milliseconds, from the average duration of the tenant's executions. `inContainer`: executions of its
 * container before it; `inAccount`: the position of the container's head among those that wait for a slot. Null without an average.
 */
export function expectedWaitMs(
  { cap, meanMs }: Pick<ExecutionShare, 'cap' | 'meanMs'>,
  inContainer: number,
  inAccount: number | null,
): number | null {
  if (meanMs === undefined) return null
  const rounds = inAccount === null ? 0 : (inAccount + 1) / Math.max(1, cap)
  return meanMs * (inContainer + rounds)
}
