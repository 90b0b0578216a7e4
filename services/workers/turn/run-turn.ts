import type { Patch } from '../../ports/leased-store.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import type { LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import { LeaseLostError } from '../../jobs/lease.ts'
import type { TurnDeps } from './deps.ts'
import { askModel, type AskContext } from './ask-model.ts'
import { ContainerReader } from './container-context.ts'
import { endTurn } from './end-turn.ts'
import { nextAction, type NextAction } from './next-action.ts'
import { collectJob, startCall, submitJob } from './pending-job.ts'
import { saveTurn } from './turn-store.ts'
import type { Turn } from './turn.ts'
import type { TurnChange } from './turn-state.ts'
import { useTool } from './use-tool.ts'

/** Result of a step: the turn has ended, a job runs for longer, or the step's time is used up. The row is still leased unless the turn has ended. */
export type Advanced = 'finished' | 'running' | 'out_of_time'

export interface StepLimits {
  readonly lease: LeaseHeartbeat
  readonly endsAt: number
  /** Aborts when an answer of the model must end, because the process does soon; null in a process that runs on. */
  readonly cutOff: AbortSignal | null
  readonly onCheckpoint: () => void
}

interface Step extends StepLimits {
  readonly turn: Turn
  readonly context: AskContext
}

type Performable = Exclude<NextAction, { kind: 'end' | 'wait_for_job' }>

/**
 * Decides what the turn needs next, performs it, and records what it changed, until the turn ends or has to wait for a job. After `endsAt` (epoch ms) no further
 * action begins, so that a message continues the turn: a function of 900 s has time for an action that began just before. Between attempts at one
 * answer, which only this process knows, the step continues. `onCheckpoint` is called before each action; the state at that time may be committed
 * while the action runs.
 */
export async function runTurn(deps: TurnDeps, turn: Turn, limits: StepLimits): Promise<Advanced> {
  const { lease, endsAt, onCheckpoint } = limits
  const context: AskContext = { container: new ContainerReader(deps, turn.row), history: null, attempts: null }
  const step: Step = { ...limits, turn, context }
  for (let isFirst = true; ; isFirst = false) {
    if (lease.reason === 'lost') throw new LeaseLostError(turn.row.id)
    const action = nextAction({ state: turn.state, job: turn.job, request: turn.row.request, stop: lease.reason })
    if (action.kind === 'wait_for_job') return 'running'
    if (action.kind === 'end') {
      await endTurn(deps, turn, action)
      return 'finished'
    }
    if (!isFirst && context.attempts === null && deps.clock.now() >= endsAt) return 'out_of_time'
    onCheckpoint()
    if (!(await commitBefore(deps, step, action))) continue
    turn.apply(await perform(deps, step, action))
    await afterAction(deps, step, action)
  }
}

/** Actions whose state is committed before they run, so that a repetition after a crash repeats the same call. */
const COMMITTED_FIRST: Partial<Record<Performable['kind'], (row: ResponseRecord) => Patch<ResponseRecord>>> = {
  submit_job: ({ fence }) => ({ liveOutputFence: fence }),
  use_tool: () => ({}),
}

/** False when the row says that the turn was cancelled. */
async function commitBefore(deps: TurnDeps, { turn, lease }: Step, action: Performable): Promise<boolean> {
  const patchOf = COMMITTED_FIRST[action.kind]
  if (patchOf === undefined) return true
  const saved = await saveTurn(deps, turn, patchOf(turn.row))
  if (action.kind === 'submit_job') turn.hasLiveOutput = true
  if (saved.cancelRequestedAt !== null) await lease.checkRow()
  return lease.reason === null
}

function perform(deps: TurnDeps, { turn, lease, endsAt, cutOff, context }: Step, action: Performable): Promise<TurnChange> {
  const { signal } = lease
  const emit: Turn['emit'] = (payload, priority) => turn.emit(payload, priority)
  switch (action.kind) {
    case 'start_call':
      return startCall(deps, turn, action.index)
    case 'submit_job':
      return submitJob(deps, turn, { signal, endsAt })
    case 'collect_job': {
      if (turn.job.kind !== 'ended') throw new Error('The pending job has not ended')
      const { execution } = turn.job
      if (execution.result?.keptFiles !== true) context.container.invalidate()
      return collectJob(deps, turn, execution)
    }
    case 'use_tool':
      return useTool(deps, turn, { index: action.index, signal, emit })
    case 'ask_model':
      return askModel(deps, turn, { context, isLast: action.isLast, signal, cutOff, emit })
  }
}

async function afterAction(deps: TurnDeps, { turn, lease }: Step, { kind }: Performable): Promise<void> {
  // The answer of a tool is committed at once: a repetition would call the tool again.
  if (kind === 'use_tool' && lease.reason === null) await saveTurn(deps, turn)
  // A cancelled turn cancels its job as well; the turn's own row may not have been read since.
  if (turn.job.kind === 'ended' && turn.job.execution.status === 'cancelled') await lease.checkRow()
}
