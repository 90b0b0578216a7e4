import type { TurnDeps } from '../deps.ts'
import { askModel } from './ask-model.ts'
import { endTurn } from './end-turn.ts'
import { handOver, startCall } from './hand-over.ts'
import type { LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import { LeaseLostError } from '../../jobs/lease.ts'
import { nextAction } from './next-action.ts'
import { saveTurn } from './save-turn.ts'
import { refuseCall, settlePending } from './settle-pending.ts'
import type { Turn } from './turn.ts'
import { useTool } from './use-tool.ts'

/** How far a step got: to the turn's end, or to code that runs for longer. Then the row is still held. */
export type Advanced = 'finished' | 'running'

/** Does what the turn needs next until it ends, or until it has to wait for code. `checkpoint` notes what may be committed on the way. */
export async function advanceTurn(deps: TurnDeps, turn: Turn, held: LeaseHeartbeat, checkpoint: () => void): Promise<Advanced> {
  for (;;) {
    const stopped = await stopIfAsked(deps, turn, held)
    if (stopped) return 'finished'
    const action = nextAction(turn)
    switch (action.kind) {
      case 'settle': {
        const settled = await settlePending(deps, turn)
        if (settled === 'running') return 'running'
        if (settled === 'missing' && (await handOverPending(deps, turn, held, checkpoint)) === 'running') return 'running'
        break
      }
      case 'start': {
        const refused = await startCall(deps, turn, action.index)
        if (refused !== null) refuseCall(turn, action.index, refused)
        else if ((await handOverPending(deps, turn, held, checkpoint)) === 'running') return 'running'
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
        return 'finished'
    }
  }
}

/** Hands the pending code over, and tells the model when it was refused. Says whether the code still runs. */
async function handOverPending(deps: TurnDeps, turn: Turn, held: LeaseHeartbeat, checkpoint: () => void): Promise<'running' | 'goes_on'> {
  checkpoint()
  const outcome = await handOver(deps, turn, held)
  if (typeof outcome === 'object' && turn.pending !== null) refuseCall(turn, turn.pending.itemIndex, outcome)
  return outcome === 'running' ? 'running' : 'goes_on'
}

/** True when the turn has come to its end because it was cancelled or took too long. */
async function stopIfAsked(deps: TurnDeps, turn: Turn, held: LeaseHeartbeat): Promise<boolean> {
  if (held.reason === null) return false
  if (held.reason === 'lost') throw new LeaseLostError(turn.row.id)
  if (held.reason === 'overdue') turn.incompleteReason = 'max_response_seconds'
  await endTurn(deps, turn, held.reason === 'cancelled' ? 'cancelled' : 'incomplete')
  return true
}

/** Work that was stopped on purpose is no failure: the loop looks at the reason. */
async function quietWhenStopped(held: LeaseHeartbeat, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (cause) {
    if (!held.signal.aborted) throw cause
  }
}
