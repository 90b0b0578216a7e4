import type { Container } from '../../model/containers/container.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { DriverCapabilities } from '../../ports/sandbox-driver.ts'
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
 * Without a warm sandbox waking takes a start and a restore, as long as they took this container before. It stays awake for its longest pause and three
 * quarters of it more, but the additional time never costs more than the start that it may save (docs/cost.md).
 */
const COLD_SLEEP_FACTOR = 1.75
const MAX_EXTRA_WAKES = 0.8
/** At least for this many times a wake, whatever the pauses were. */
const MIN_COLD_WAKES = 105 / 57
/** While the pauses are not known. */
const UNKNOWN_WAKES = 300 / 57
/** Bytes of a snapshot that are loaded and restored in a millisecond. */
const RESTORED_BYTES_PER_MS = 50_000

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
  const held = container.sandboxId === null ? null : await deps.table.sandboxes.get(container.sandboxId)
  const wakeMs = wakeTimeMs(container, held, deps.driver.capabilities)
  const { warmMs, coldMs } =
    earlySleepMs < hibernateAfterMs
      ? sleepTimes(await recentPauses(deps, container), { earlySleepMs, hibernateAfterMs, wakeMs })
      : { warmMs: hibernateAfterMs, coldMs: hibernateAfterMs }
  const earlyAt = container.lastActiveAt + warmMs
  const lateAt = container.lastActiveAt + coldMs
  const notBefore = container.hibernating?.expiresAt ?? 0
  if (earlyAt - now > betweenPassesMs) return { kind: 'check', at: Math.max(earlyAt - betweenPassesMs, notBefore) }
  const isEarly = lateAt > now && earlyAt < lateAt && (await hasWarmSandbox(deps, held))
  const at = Math.max(isEarly ? earlyAt : lateAt, notBefore)
  return at - now > betweenPassesMs
    ? { kind: 'check', at: Math.min(at - betweenPassesMs, now + CHECK_AGAIN_MS) }
    : { kind: 'hibernate', at }
}

/** What a wake without a warm sandbox takes: as long as the start of the present sandbox, and the restore of as many variables as the last snapshot had. */
const wakeTimeMs = ({ snapshot }: Container, held: Sandbox | null, { startMs }: DriverCapabilities): number =>
  (held === null || held.readyAt === null ? startMs : held.readyAt - (held.launchedAt ?? held.createdAt)) +
  (snapshot?.bytes ?? 0) / RESTORED_BYTES_PER_MS

interface SleepSettings {
  readonly earlySleepMs: number
  readonly hibernateAfterMs: number
  /** A wake without a warm sandbox, milliseconds. */
  readonly wakeMs: number
}

/**
 * How long an idle container keeps its sandbox, milliseconds: with a warm sandbox to wake into, and without one. `pauses` are those between the
 * executions of its conversation.
 */
export function sleepTimes(
  pauses: readonly number[],
  { earlySleepMs, hibernateAfterMs, wakeMs }: SleepSettings,
): { readonly warmMs: number; readonly coldMs: number } {
  const within = (ms: number, min: number): number => Math.round(Math.min(Math.max(ms, min, earlySleepMs), hibernateAfterMs))
  if (pauses.length < MIN_PAUSES) return { warmMs: earlySleepMs, coldMs: within(UNKNOWN_WAKES * wakeMs, 0) }
  const longest = Math.max(...pauses)
  const coldMs = Math.min(COLD_SLEEP_FACTOR * longest, longest + MAX_EXTRA_WAKES * wakeMs)
  return { warmMs: within(1.25 * longest, 0), coldMs: within(coldMs, MIN_COLD_WAKES * wakeMs) }
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
async function hasWarmSandbox({ table }: ReconcilerDeps, held: Sandbox | null): Promise<boolean> {
  if (held === null || held.limits !== null) return false
  const warm = await table.sandboxes.ready(held.memoryTier, CANDIDATES)
  return warm.some(({ image, protocol }) => image === held.image && protocol === SUPERVISOR_PROTOCOL)
}
