import type { Patch } from '../../ports/leased-store.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import type { LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import { LeaseLostError } from '../../jobs/lease.ts'
import type { TurnDeps } from './deps.ts'
import { askModel, type AskContext } from './ask-model.ts'
import { collectCode, startCode, submitCode } from './code-call.ts'
import { ContainerReader } from './container-context.ts'
import { endTurn } from './end-turn.ts'
import { nextAction, type NextAction } from './next-action.ts'
import { runShell } from './shell-call.ts'
import { saveTurn } from './turn-store.ts'
import type { Turn } from './turn.ts'
import type { TurnChange } from './turn-state.ts'
import { useTool } from './use-tool.ts'

/** Result of a step: the turn has ended, or code runs for longer and the row is still leased. */
export type Advanced = 'finished' | 'running'

type Performable = Exclude<NextAction, { kind: 'end' | 'wait_for_code' }>

/**
 * Decides what the turn needs next, performs it, and records what it changed, until the turn ends or has to wait for code. `onCheckpoint` is called
 * before each action; the state at that time may be committed while the action runs.
 */
export async function runTurn(deps: TurnDeps, turn: Turn, lease: LeaseHeartbeat, onCheckpoint: () => void): Promise<Advanced> {
  const context: AskContext = { container: new ContainerReader(deps, turn.row), history: null, attempts: null }
  for (;;) {
    if (lease.reason === 'lost') throw new LeaseLostError(turn.row.id)
    const action = nextAction({ state: turn.state, code: turn.code, request: turn.row.request, stop: lease.reason })
    if (action.kind === 'wait_for_code') return 'running'
    if (action.kind === 'end') {
      await endTurn(deps, turn, action)
      return 'finished'
    }
    onCheckpoint()
    if (!(await commitBefore(deps, turn, lease, action))) continue
    turn.apply(await perform(deps, turn, lease, context, action))
    await afterAction(deps, turn, lease, action)
  }
}

/** Actions whose state is committed before they run, so that a repetition after a crash repeats the same call. */
const COMMITTED_FIRST: Partial<Record<Performable['kind'], (row: ResponseRecord) => Patch<ResponseRecord>>> = {
  submit_code: ({ fence }) => ({ liveOutputFence: fence }),
  use_tool: () => ({}),
}

/** False when the row says that the turn was cancelled. */
async function commitBefore(deps: TurnDeps, turn: Turn, lease: LeaseHeartbeat, action: Performable): Promise<boolean> {
  const patchOf = COMMITTED_FIRST[action.kind]
  if (patchOf === undefined) return true
  const saved = await saveTurn(deps, turn, patchOf(turn.row))
  if (action.kind === 'submit_code') turn.hasLiveOutput = true
  if (saved.cancelRequestedAt !== null) await lease.checkRow()
  return lease.reason === null
}

function perform(deps: TurnDeps, turn: Turn, lease: LeaseHeartbeat, context: AskContext, action: Performable): Promise<TurnChange> {
  const { signal } = lease
  const emit: Turn['emit'] = (payload, priority) => turn.emit(payload, priority)
  switch (action.kind) {
    case 'start_code':
      return startCode(deps, turn, action.index)
    case 'submit_code':
      return submitCode(deps, turn, signal)
    case 'collect_code': {
      if (turn.code.kind !== 'ended') throw new Error('The pending code has not ended')
      const { execution } = turn.code
      if (execution.result?.keptFiles !== true) context.container.invalidate()
      return collectCode(deps, turn, turn.log, execution)
    }
    case 'use_tool':
      if (turn.state.items[action.index]?.type !== 'shell_call') return useTool(deps, turn, action.index, { signal, emit })
      context.container.invalidate()
      return runShell(deps, turn, action.index, { signal, emit })
    case 'ask_model':
      return askModel(deps, turn, context, { isLast: action.isLast, signal, emit })
  }
}

async function afterAction(deps: TurnDeps, turn: Turn, lease: LeaseHeartbeat, { kind }: Performable): Promise<void> {
  // The answer of a tool is committed at once: a repetition would call the tool again.
  if (kind === 'use_tool' && lease.reason === null) await saveTurn(deps, turn)
  // A cancelled turn cancels its code as well; the turn's own row may not have been read since.
  if (turn.code.kind === 'ended' && turn.code.execution.status === 'cancelled') await lease.checkRow()
}
