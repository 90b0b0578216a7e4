import { LIMITS } from '../../model/limits.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import type { JobProgress, RequestedTools, TurnState } from './turn-state.ts'
import { awaitsCaller, awaitsJobs, isOpenCall } from '../../model/responses/items/item-types.ts'

export type TerminalStatus = Extract<ResponseRecord['status'], 'completed' | 'failed' | 'incomplete' | 'cancelled'>

export type NextAction =
  /** Record that the jobs of the call at this index are to run in the container. */
  | { readonly kind: 'start_call'; readonly index: number }
  /** Accept the pending job, and wait for its end for a limited time. */
  | { readonly kind: 'submit_job' }
  /** Record the result of the pending job. */
  | { readonly kind: 'collect_job' }
  /** The call at this index is answered by a tool of this server. */
  | { readonly kind: 'use_tool'; readonly index: number }
  /** `isLast`: without tools, because too many consecutive calls have failed. */
  | { readonly kind: 'ask_model'; readonly isLast: boolean }
  /** Release the row: the end of the pending job sends a message. */
  | { readonly kind: 'wait_for_job' }
  | { readonly kind: 'end'; readonly status: TerminalStatus; readonly incompleteReason: string | null }

export interface Decision {
  readonly state: TurnState
  readonly job: JobProgress
  readonly request: RequestedTools
  /** Why the turn must stop; null when it may continue. */
  readonly stop: 'cancelled' | 'overdue' | null
}

/** What a turn needs next. It follows from the row alone, so every worker can continue where another one stopped. */
export function nextAction({ state, job, request, stop }: Decision): NextAction {
  const { items, incompleteReason } = state
  const end = (status: TerminalStatus, reason = incompleteReason): NextAction => ({ kind: 'end', status, incompleteReason: reason })
  if (stop === 'cancelled') return end('cancelled')
  if (stop === 'overdue') return end('incomplete', 'max_response_seconds')
  if (request.purpose === 'preparation') return end('completed')
  if (state.pending !== null) return { kind: PENDING[job.kind] }
  if (state.error !== null) return end('failed')
  const toStart = items.findIndex((_, index) => awaitsJobs(items, index))
  if (toStart >= 0) return { kind: 'start_call', index: toStart }
  const toUse = items.findIndex((item) => isOpenCall(item, request))
  if (toUse >= 0) return { kind: 'use_tool', index: toUse }
  if (incompleteReason !== null) return end('incomplete')
  const last = items.at(-1)
  const isAnswered = last?.type === 'message' && last.status === 'completed' && last.phase === 'final_answer'
  if (isAnswered || items.some(awaitsCaller)) return end('completed')
  return { kind: 'ask_model', isLast: state.consecutiveFailures >= LIMITS.maxConsecutiveFailures }
}

const PENDING = { missing: 'submit_job', running: 'wait_for_job', ended: 'collect_job' } as const
