import { RECONCILE_AFTER_MS } from '../core/executions/accept-execution.ts'
import type { ResponseEvent } from '../core/events.ts'
import { hasEnded, type Execution } from '../core/executions/execution.ts'
import { mustWait } from '../core/conversations/conversation-queue.ts'
import { newLease } from '../core/lease.ts'
import type { TurnMessage } from '../core/messages.ts'
import type { Patch, LeaseResult } from '../core/ports/leased-store.ts'
import { loadResponse } from '../core/responses/response-blobs.ts'
import { hasResponseEnded, isCheckpointed, hasEventStream, type ResponseRecord } from '../core/responses/response.ts'
import { joinTrace } from '../core/trace.ts'
import type { TurnDeps } from './deps.ts'
import { EventLogConflictError } from './events/event-writer.ts'
import { advanceTurn, type Advanced } from './turn/advance-turn.ts'
import { startLeaseHeartbeat, LeaseLostError } from './turn/lease-heartbeat.ts'
import { rescheduleTurn, type PutOff } from './turn/reschedule-turn.ts'
import { releaseLease } from './turn/save-turn.ts'
import { Turn } from './turn/turn.ts'

export type { TurnDeps } from './deps.ts'

/** While code runs, the row is looked at again after this at the latest, milliseconds; its end sends a message. */
const RECHECK_MS = 30_000
const EVENTS_PER_READ = 1_000
/** A step that finds its log written by somebody else reads it again this often. */
const MAX_ROUNDS = 5

/**
 * Steps of a chat turn: each takes the row, goes on as far as it can, commits. It ends when the turn ends, or when code has to run for longer;
 * the message that tells of that code's end brings the next one. Whatever dies in the middle, a later step continues; a message that finds
 * the row held does nothing. Throws only when storage fails.
 */
export function createTurnStep(deps: TurnDeps): (message: TurnMessage) => Promise<void> {
  return async (message) => {
    const { tenant, responseId } = message
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const startedAt = deps.clock.now()
      const outcome = await step(deps, round === 0 ? message : { tenant, responseId })
      const told = typeof outcome === 'string' ? { outcome } : { outcome: 'error', ...outcome }
      deps.telemetry.emit({ event: 'turn_step', ...told, tenant, response_id: responseId, step_ms: deps.clock.now() - startedAt })
      if (outcome !== 'again') return
    }
  }
}

type Done = Advanced | Exclude<LeaseResult<ResponseRecord>['kind'], 'taken'> | 'again' | 'lost' | 'early' | PutOff

async function step(
  deps: TurnDeps,
  { tenant, responseId, againAt }: Pick<TurnMessage, 'tenant' | 'responseId' | 'againAt'>,
): Promise<Done> {
  const { responses } = deps.table
  if (againAt !== undefined && (await responses.get(tenant, responseId))?.fence !== againAt) return 'early'
  const taken = await responses.acquireLease(tenant, responseId, newLease(deps), { status: 'in_progress' })
  if (taken.kind !== 'taken') return taken.kind
  const { row } = taken
  joinTrace(row.traceparent)
  let turn: Turn | null = null
  let progress: ReturnType<Turn['snapshot']> | null = null
  // Only what the log has may be accounted for.
  const held = startLeaseHeartbeat(deps, row, async () =>
    turn !== null && progress !== null && turn.writer.writtenSeq >= progress.nextSeq ? progress.patch() : {},
  )
  const release = (after: number, patch: Patch<ResponseRecord> = {}): Promise<ResponseRecord | null> =>
    responses.commit(tenant, responseId, row.fence, patch, { release: true, dueAt: deps.clock.now() + after })
  try {
    if (await isEarly(deps, row)) {
      await release(RECONCILE_AFTER_MS, { stepsFailSince: null, ...(isCheckpointed(row) && { checkpointedFence: row.fence }) })
      await deps.queue
        .send('turns', { v: 1, type: 'response.step', tenant, responseId, againAt: row.fence }, { group: tenant, delaySeconds: 1 })
        .catch(() => undefined)
      return 'early'
    }
    const [whole, events, before] = await Promise.all([loadResponse(deps.objects, row), readUnaccounted(deps, row), pendingOf(deps, row)])
    const current = new Turn(deps, whole, events, before, () => held.lose())
    turn = current
    const advanced = await advanceTurn(deps, current, held, () => {
      progress = current.snapshot()
    })
    if (advanced !== 'running') return advanced
    const given = await releaseLease(deps, turn, RECHECK_MS)
    // The code may have ended, and the turn may have been cancelled, after they were looked at, while the message that says so found the row held.
    if (given.cancelRequestedAt !== null) return 'again'
    const execution = await pendingOf(deps, given)
    return execution !== null && hasEnded(execution.status) ? 'again' : advanced
  } catch (cause) {
    const isPassing = cause instanceof EventLogConflictError || cause instanceof LeaseLostError || held.reason === 'lost'
    if (isPassing) return (await release(RECONCILE_AFTER_MS).catch(() => null)) === null ? 'lost' : 'again'
    const putOff = await rescheduleTurn(deps, row, turn, cause).catch(() => null)
    // Then the queue brings this message again, and the lease runs out.
    if (putOff === null) throw cause
    return putOff
  } finally {
    held.stop()
    turn?.writer.close()
  }
}

const pendingOf = async ({ table }: TurnDeps, { tenant, pending }: Pick<ResponseRecord, 'tenant' | 'pending'>): Promise<Execution | null> =>
  pending === null ? null : table.executions.get(tenant, pending.executionId)

/** The turn before this one still runs: one running response per conversation. */
async function isEarly(deps: TurnDeps, row: ResponseRecord): Promise<boolean> {
  if (row.items.length > 0 || row.cancelRequestedAt !== null) return false
  if (row.conversationId !== null) return mustWait(deps.table, { ...row, conversationId: row.conversationId })
  if (row.previousResponseId === null) return false
  const before = await deps.table.responses.get(row.tenant, row.previousResponseId)
  return before !== null && !hasResponseEnded(before.status)
}

/**
 * What the log has from the row's tail on, when a step before this one did not get to give the row back; null when there was none, when
 * everything is accounted for, and when there is no log.
 */
async function readUnaccounted(deps: TurnDeps, row: ResponseRecord): Promise<readonly ResponseEvent[] | null> {
  if (!hasEventStream(row) || isCheckpointed(row)) return null
  const events: ResponseEvent[] = []
  for (;;) {
    const after = events.at(-1)?.seq ?? (row.tailEvents[0]?.seq ?? row.nextSeq) - 1
    const page = await deps.table.events.read<ResponseEvent>({ kind: 'response', tenant: row.tenant, id: row.id }, after, EVENTS_PER_READ)
    events.push(...page)
    if (page.length === 0) return events
  }
}
