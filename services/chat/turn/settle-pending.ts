import { notifyExecution } from '../../core/executions/accept-execution.ts'
import { topicOf } from '../../core/events.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import type { TurnDeps } from '../deps.ts'
import { callCompleted, type CodeItem } from '../../core/responses/item-events.ts'
import { callStatusOf, isFailingTry } from '../outcome/call-status.ts'
import { failedCall } from '../outcome/failed-call.ts'
import { settleCall } from '../outcome/settle-call.ts'
import { acceptPending, codeOf, type Refused } from './hand-over.ts'
import { tellOutput } from './tell-output.ts'
import type { Turn } from './turn.ts'

/** `missing`: a crash came between the note in the row and the acceptance. */
export type Settled = 'settled' | 'running' | 'missing'

/** Takes in the result of the code that the turn waits for. */
export async function settlePending(deps: TurnDeps, turn: Turn): Promise<Settled> {
  const { pending } = turn
  if (pending === null) return 'settled'
  const execution = turn.execution ?? (await deps.table.executions.get(turn.row.tenant, pending.executionId))
  if (execution === null) return 'missing'
  if (!hasEnded(execution.status)) return 'running'
  await takeIn(deps, turn, pending.itemIndex, execution)
  return 'settled'
}

async function takeIn(deps: TurnDeps, turn: Turn, index: number, execution: Execution): Promise<void> {
  const item = turn.items[index] as CodeItem
  await tellOutput(deps, turn, execution)
  const settled: CodeItem = { ...item, status: callStatusOf(execution), outcome: await settleCall(deps, execution) }
  turn.pending = null
  if (execution.result?.keptFiles !== true) turn.workplace = null
  turn.consecutiveFailures = isFailingTry(execution) ? turn.consecutiveFailures + 1 : 0
  if (settled.status === 'completed') turn.emit(callCompleted(index, settled), 'soon')
  turn.finishItem(index, settled)
}

/** The code could not be handed over: the model is told why. */
export function refuseCall(turn: Turn, index: number, { reason, why }: Refused): void {
  turn.pending = null
  turn.consecutiveFailures += 1
  turn.finishItem(index, failedCall(turn.items[index] as CodeItem, reason, why))
}

/** The turn ends without waiting for its code: the execution is cancelled, and comes to its own end. */
export async function abandonPending(deps: TurnDeps, turn: Turn): Promise<void> {
  const { pending, row } = turn
  if (pending === null) return
  const present = await deps.table.executions.get(row.tenant, pending.executionId)
  // A step that noted this call may yet accept it; accepted and cancelled now, it cannot run later.
  if (present === null) await acceptPending(deps, row, pending, codeOf(turn, pending), null)
  const marked = await deps.table.executions.requestCancel(row.tenant, pending.executionId, deps.clock.now())
  if (marked !== null && !hasEnded(marked.status)) {
    deps.signals.notify(topicOf('execution', pending.executionId))
    await notifyExecution(deps.queue, row.tenant, pending.containerId, pending.executionId)
  }
  await tellOutput(deps, turn, present)
  turn.pending = null
}
