import type { TurnDeps } from '../deps.ts'
import { askModel } from './ask-model.ts'
import { endTurn } from './end-turn.ts'
import type { AwaitedEnd } from './await-end.ts'
import { handOver, MAX_KEPT_BYTES, startCall, type HandedOver, type Refused } from './hand-over.ts'
import { RowLost, type HeldRow } from './hold-row.ts'
import { nextAction } from './next-action.ts'
import { refuseCall, settlePending } from './settle-pending.ts'
import type { Turn } from './turn.ts'
import { useTool } from './use-tool.ts'

/** How far a step got. After `handed_over` and `refused` the row is given back already; after `running` it is still held. */
export type Advanced = { readonly kind: 'finished' | 'running' } | { readonly kind: 'handed_over'; readonly end: AwaitedEnd } | Refused

/** Does what the turn needs next until it ends, or until it has to wait for code. `checkpoint` notes what may be committed on the way. */
export async function advanceTurn(deps: TurnDeps, turn: Turn, held: HeldRow, checkpoint: () => void): Promise<Advanced> {
  for (;;) {
    const stopped = await stopIfAsked(deps, turn, held)
    if (stopped) return { kind: 'finished' }
    const action = nextAction(turn)
    switch (action.kind) {
      case 'settle': {
        const settled = await settlePending(deps, turn)
        if (settled === 'running') return { kind: 'running' }
        if (settled === 'missing') return handedOver(await handOver(deps, turn))
        break
      }
      case 'start': {
        const started = await startCall(deps, turn, action.index)
        // Refused before anything was noted: the row is still held, so the turn goes on.
        if (started.kind === 'refused' && turn.pending === null) refuseCall(turn, action.index, started)
        else return handedOver(started)
        break
      }
      case 'use_tool': {
        // Stored before, so that a repetition repeats this very call; and after, so that there is none.
        checkpoint()
        await saveTurn(deps, turn)
        await quietWhenStopped(held, useTool(deps, turn, action.index, held.signal))
        if (held.reason === null) {
          checkpoint()
          await saveTurn(deps, turn)
        }
        break
      }
      case 'ask':
        checkpoint()
        await quietWhenStopped(held, askModel(deps, turn, held, action.isLast))
        break
      case 'end':
        await endTurn(deps, turn, action.status)
        return { kind: 'finished' }
    }
  }
}

/** Commits what the turn has come to, and keeps the row. */
async function saveTurn(deps: TurnDeps, turn: Turn): Promise<void> {
  const { tenant, id, fence } = turn.row
  const tailEvents = await turn.tail(MAX_KEPT_BYTES)
  const patch = { ...(await turn.snapshot().patch()), tailEvents }
  if ((await deps.table.responses.commit(tenant, id, fence, patch)) === null) throw new RowLost(id)
}

const handedOver = (outcome: HandedOver): Advanced => (outcome.kind === 'accepted' ? { kind: 'handed_over', end: outcome.end } : outcome)

/** True when the turn has come to its end because it was cancelled or took too long. */
async function stopIfAsked(deps: TurnDeps, turn: Turn, held: HeldRow): Promise<boolean> {
  if (held.reason === null) return false
  if (held.reason === 'lost') throw new RowLost(turn.row.id)
  if (held.reason === 'overdue') turn.incompleteReason = 'max_response_seconds'
  await endTurn(deps, turn, held.reason === 'cancelled' ? 'cancelled' : 'incomplete')
  return true
}

/** Work that was stopped on purpose is no failure: the loop looks at the reason. */
async function quietWhenStopped(held: HeldRow, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (cause) {
    if (!held.signal.aborted) throw cause
  }
}
