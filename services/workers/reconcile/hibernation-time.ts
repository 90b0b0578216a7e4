import type { Container } from '../../model/containers/container.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { SUPERVISOR_PROTOCOL } from '../../model/sandboxes/sandbox.ts'
import type { ReconcilerDeps } from '../deps.ts'

/** Warm sandboxes that are read to find one of the right image. */
const CANDIDATES = 32
/** Executions whose pauses are counted. */
const RECENT_EXECUTIONS = 10
/** An idle container without a warm sandbox to wake into is checked again after this time, milliseconds. */
const CHECK_AGAIN_MS = 60_000
/** Fewer pauses say too little about a conversation. */
const MIN_PAUSES = 2
/**
 * Without a warm sandbox waking takes a start. A container then stays awake for its longest pause and three quarters of it more. For a typical pause of a
 * minute the additional 45 s cost less than a start, which bills 57 s (docs/cost.md).
 */
const COLD_SLEEP_FACTOR = 1.75
/** At least for this time, whatever the pauses were. */
const MIN_COLD_SLEEP_MS = 105_000

export interface HibernationPlan {
  /** A check only: at `at` the container may still be too young to hibernate. */
  readonly kind: 'check' | 'hibernate'
  /** Epoch ms; a hibernation may lie before the next pass. */
  readonly at: number
}

/**
 * When an idle container with a sandbox hibernates: early while a warm sandbox of its image and tier waits, because waking then takes a claim and no
 * start. Both times follow the pauses of its conversation.
 */
export async function planHibernation(deps: ReconcilerDeps, container: Container): Promise<HibernationPlan> {
  const { hibernateAfterMs, earlySleepMs = hibernateAfterMs, betweenPassesMs = 0, clock } = deps
  const now = clock.now()
  const { warmMs, coldMs } =
    earlySleepMs < hibernateAfterMs
      ? sleepTimes(await recentPauses(deps, container), { earlySleepMs, hibernateAfterMs })
      : { warmMs: hibernateAfterMs, coldMs: hibernateAfterMs }
  const earlyAt = container.lastActiveAt + warmMs
  const lateAt = container.lastActiveAt + coldMs
  const notBefore = container.hibernating?.expiresAt ?? 0
  if (earlyAt - now > betweenPassesMs) return { kind: 'check', at: Math.max(earlyAt - betweenPassesMs, notBefore) }
  const isEarly = lateAt > now && earlyAt < lateAt && (await hasWarmSandbox(deps, container))
  const at = Math.max(isEarly ? earlyAt : lateAt, notBefore)
  return at - now > betweenPassesMs
    ? { kind: 'check', at: Math.min(at - betweenPassesMs, now + CHECK_AGAIN_MS) }
    : { kind: 'hibernate', at }
}

/**
 * How long an idle container keeps its sandbox, milliseconds: with a warm sandbox to wake into, and without one. `pauses` are those between the
 * executions of its conversation.
 */
export function sleepTimes(
  pauses: readonly number[],
  { earlySleepMs, hibernateAfterMs }: { readonly earlySleepMs: number; readonly hibernateAfterMs: number },
): { readonly warmMs: number; readonly coldMs: number } {
  if (pauses.length < MIN_PAUSES) return { warmMs: earlySleepMs, coldMs: hibernateAfterMs }
  const longest = Math.max(...pauses)
  const within = (ms: number, min: number): number => Math.min(Math.max(ms, min), hibernateAfterMs)
  return { warmMs: within(1.25 * longest, earlySleepMs), coldMs: within(COLD_SLEEP_FACTOR * longest, MIN_COLD_SLEEP_MS) }
}

/** Pauses between the ends and the next acceptances of the last executions, milliseconds. */
async function recentPauses({ table }: ReconcilerDeps, { tenant, id }: Container): Promise<readonly number[]> {
  const { rows } = await table.executions.listByContainer(tenant, id, { after: null, limit: RECENT_EXECUTIONS, order: 'desc' })
  return pausesBetween(rows)
}

/** `rows` are in descending order of time. */
export const pausesBetween = (rows: readonly Pick<Execution, 'createdAt' | 'endedAt'>[]): readonly number[] =>
  rows.slice(1).flatMap(({ endedAt }, index) => {
    const next = rows[index]
    return endedAt === null || next === undefined ? [] : [Math.max(0, next.createdAt - endedAt)]
  })

/** Whether the pool has a sandbox like that of the container. A sandbox with limits that the pool does not have always needs a start. */
async function hasWarmSandbox({ table }: ReconcilerDeps, { sandboxId }: Container): Promise<boolean> {
  const held = sandboxId === null ? null : await table.sandboxes.get(sandboxId)
  if (held === null || held.limits !== null) return false
  const warm = await table.sandboxes.ready(held.memoryTier, CANDIDATES)
  return warm.some(({ image, protocol }) => image === held.image && protocol === SUPERVISOR_PROTOCOL)
}
