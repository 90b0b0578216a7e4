import type { ResponseEvent } from '../../model/events.ts'
import { describeCause } from '../../model/describe-cause.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { leaveConversation, mustWait } from '../../operations/turns/conversation-queue.ts'
import { LIMITS } from '../../model/limits.ts'
import type { TurnMessage } from '../../model/messages.ts'
import type { LeaseResult } from '../../ports/leased-store.ts'
import { notifyResponse } from '../../operations/notify/notify-response.ts'
import { loadResponse } from '../../operations/turns/response-blobs.ts'
import { hasResponseEnded, isCheckpointed, hasEventStream, type ResponseRecord } from '../../model/responses/response.ts'
import { acquireLease, extendLease, releaseLease } from '../../jobs/lease.ts'
import { startLeaseHeartbeat, type LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import { recover } from '../../jobs/recover.ts'
import { responseJob } from '../../operations/turns/response-job.ts'
import { createBudgetReader } from '../../operations/tenancy/budget.ts'
import { createLimitReader } from '../../operations/tenancy/limit-reader.ts'
import { countStorage } from '../../operations/tenancy/meter-storage.ts'
import type { TurnDeps } from './deps.ts'
import { runTurn, type Advanced, type StepLimits } from './run-turn.ts'
import { releaseTurn, renewTurn } from './turn-store.ts'
import { Turn, type TurnSnapshot } from './turn.ts'

export type { TurnDeps } from './deps.ts'

/** While a job runs, the reconciler reads the row again after this, milliseconds; the end of the job sends a message. */
const RECHECK_MS = 30_000
/** A step hands over after this, milliseconds. One action may take longer: a tool, or an answer of the model. `docs/turn-log.md` lists their bounds. */
const STEP_BUDGET_MS = 50_000
const EVENTS_PER_READ = 1_000
/** Maximum number of times that a step reads an event log which another worker has written. */
const MAX_ROUNDS = 5

/**
 * Steps of a chat turn. Each acquires the lease of the row, advances the turn as far as it can, and commits. A step ends when the turn ends, or
 * when a job in the container runs for longer; the message about the end of that job starts the next step. A step whose time is used up sends that
 * message itself. After a crash a later step continues; a
 * message that finds the row leased does nothing. Throws only when storage fails.
 */
export function createTurnStep(ports: TurnDeps): (message: TurnMessage) => Promise<void> {
  const { table, clock } = ports
  const limits = createLimitReader(table.tenants, clock)
  const deps: TurnDeps = { budget: createBudgetReader({ usage: table.usage, limits, clock, prices: ports.prices }), ...countStorage(ports) }
  return async (message) => {
    const { tenant, responseId } = message
    const endsAt = deps.clock.now() + (deps.stepBudgetMs ?? STEP_BUDGET_MS)
    const cutOff = deps.stepLimitMs === undefined ? null : AbortSignal.timeout(deps.stepLimitMs)
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const startedAt = deps.clock.now()
      const outcome = await step(deps, round === 0 ? message : { tenant, responseId }, { endsAt, cutOff })
      const fields = typeof outcome === 'string' ? { outcome } : { outcome: 'error', ...outcome }
      deps.telemetry.emit({ event: 'turn_step', ...fields, tenant, response_id: responseId, step_ms: deps.clock.now() - startedAt })
      if (outcome !== 'again') return
    }
  }
}

/** Log fields of a failed step; `retry_in_seconds` is null when the turn ended as a dead letter. */
interface Failed {
  readonly detail: string
  readonly retry_in_seconds: number | null
}
type Outcome = Advanced | Exclude<LeaseResult<ResponseRecord>['kind'], 'acquired'> | 'again' | 'lost' | 'early' | Failed

async function step(
  deps: TurnDeps,
  { tenant, responseId, againAt }: Pick<TurnMessage, 'tenant' | 'responseId' | 'againAt'>,
  time: StepTime,
): Promise<Outcome> {
  const { responses } = deps.table
  if (againAt !== undefined && (await responses.get(tenant, responseId))?.fence !== againAt) return 'early'
  const acquired = await acquireLease(deps, responses, { tenant, id: responseId, patch: { status: 'in_progress' } })
  // The worker that ended it may have died before it left the conversation.
  if (acquired.kind === 'ended')
    await leaveConversation({ conversations: deps.table.conversations, queue: deps.queue }, acquired.row, acquired.row.containerId)
  if (acquired.kind !== 'acquired') return acquired.kind
  const { row } = acquired
  const progress: Progress = { turn: null, snapshot: null }
  const lease = startTurnLease(deps, row, progress)
  try {
    if (await isEarly(deps, row)) return await waitForPredecessor(deps, row)
    return await advance(deps, row, { lease, progress, ...time })
  } catch (cause) {
    const isLost = lease.reason === 'lost'
    const recovery = await recover(deps, responseJob(deps), { row, cause, isLost, hasProgressed: progress.turn?.hasCommitted === true })
    if (recovery.kind === 'held') throw cause
    if (recovery.kind === 'rescheduled') return { detail: describeCause(cause), retry_in_seconds: recovery.retryInSeconds }
    return recovery.kind === 'released' ? 'again' : 'lost'
  } finally {
    lease.stop()
    progress.turn?.log.close()
  }
}

/** How far the turn has come. A renewal of the lease commits the snapshot once the log has all its events. */
interface Progress {
  turn: Turn | null
  snapshot: TurnSnapshot | null
}

type StepTime = Pick<StepLimits, 'endsAt' | 'cutOff'>

interface StepState extends StepTime {
  readonly lease: LeaseHeartbeat
  readonly progress: Progress
}

function startTurnLease(deps: TurnDeps, row: ResponseRecord, progress: Progress): LeaseHeartbeat {
  const { responses } = deps.table
  const { tenant, id } = row
  const renew = (extendTo: number): Promise<boolean> => {
    const { turn, snapshot } = progress
    return turn === null || snapshot === null ? extendLease(responses, row, extendTo) : renewTurn(deps, turn, { snapshot, extendTo })
  }
  return startLeaseHeartbeat({
    id,
    clock: deps.clock,
    renew,
    deadlineAt: row.createdAt + LIMITS.maxResponseSeconds * 1000,
    watched: { row, read: () => responses.get(tenant, id) },
  })
}

/** The turn before this one still runs: this row is released, and a delayed message tries again. */
async function waitForPredecessor(deps: TurnDeps, row: ResponseRecord): Promise<'early'> {
  const { tenant, id: responseId, fence } = row
  await releaseLease({ rows: deps.table.responses, clock: deps.clock }, row, {
    patch: { stepsFailSince: null, ...(isCheckpointed(row) && { checkpointedFence: fence }) },
  })
  await deps.queue
    .send('turns', { v: 1, type: 'response.step', tenant, responseId, againAt: fence }, { group: tenant, delaySeconds: 1 })
    .catch(() => undefined)
  return 'early'
}

async function advance(deps: TurnDeps, row: ResponseRecord, { lease, progress, ...time }: StepState): Promise<Advanced | 'again'> {
  const [whole, logged, execution] = await Promise.all([
    loadResponse(deps.objects, row),
    readUncommitted(deps, row),
    pendingExecution(deps, row),
  ])
  const turn = new Turn(deps, whole, { logged, execution, onBroken: () => lease.lose() })
  progress.turn = turn
  const onCheckpoint = (): void => {
    progress.snapshot = turn.snapshot()
  }
  const advanced = await runTurn(deps, turn, { ...time, lease, onCheckpoint })
  if (advanced === 'finished') return advanced
  const released = await releaseTurn(deps, turn, RECHECK_MS)
  if (advanced === 'out_of_time') {
    await notifyResponse(deps.queue, released)
    return advanced
  }
  // The job may have ended, or the turn may have been cancelled, after they were read; the message about it then found the row leased.
  if (released.cancelRequestedAt !== null) return 'again'
  const present = await pendingExecution(deps, released)
  return present !== null && hasEnded(present.status) ? 'again' : advanced
}

const pendingExecution = async (
  { table }: TurnDeps,
  { tenant, pending }: Pick<ResponseRecord, 'tenant' | 'pending'>,
): Promise<Execution | null> => (pending === null ? null : table.executions.get(tenant, pending.executionId))

/** The turn before this one still runs: one running response per conversation. */
async function isEarly(deps: TurnDeps, row: ResponseRecord): Promise<boolean> {
  if (row.items.length > 0 || row.cancelRequestedAt !== null) return false
  if (row.conversationId !== null) return mustWait(deps.table, { ...row, conversationId: row.conversationId })
  if (row.previousResponseId === null) return false
  const before = await deps.table.responses.get(row.tenant, row.previousResponseId)
  return before !== null && !hasResponseEnded(before.status)
}

/**
 * The events in the log from the row's tail on, if the previous step crashed before it had committed all of them. Null if it committed all, and without
 * a log.
 */
async function readUncommitted(deps: TurnDeps, row: ResponseRecord): Promise<readonly ResponseEvent[] | null> {
  if (!hasEventStream(row) || isCheckpointed(row)) return null
  const events: ResponseEvent[] = []
  for (;;) {
    const after = events.at(-1)?.seq ?? (row.tailEvents[0]?.seq ?? row.nextSeq) - 1
    const page = await deps.table.events.read<ResponseEvent>({ kind: 'response', tenant: row.tenant, id: row.id }, after, EVENTS_PER_READ)
    events.push(...page)
    if (page.length === 0) return events
  }
}
