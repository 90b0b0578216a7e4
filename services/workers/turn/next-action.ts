import { LIMITS } from '../../model/limits.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import { isCodeWaiting, type CodeProgress, type RequestedTools, type TurnState } from './turn-state.ts'
import { awaitsCaller, isOpenCall } from '../../model/responses/items/item-types.ts'

export type TerminalStatus = Extract<ResponseRecord['status'], 'completed' | 'failed' | 'incomplete' | 'cancelled'>

export type NextAction =
  /** Record that the code of the interpreter call at this index is to run. */
  | { readonly kind: 'start_code'; readonly index: number }
  /** Accept the execution of the pending call, and wait for its end for a limited time. */
  | { readonly kind: 'submit_code' }
  /** Record the result of the pending call. */
  | { readonly kind: 'collect_code' }
  /** The call at this index is answered by a tool of this server. */
  | { readonly kind: 'use_tool'; readonly index: number }
  /** `isLast`: without tools, because too many consecutive calls have failed. */
  | { readonly kind: 'ask_model'; readonly isLast: boolean }
  /** Release the row: the end of the pending code sends a message. */
  | { readonly kind: 'wait_for_code' }
  | { readonly kind: 'end'; readonly status: TerminalStatus; readonly incompleteReason: string | null }

export interface Decision {
  readonly state: TurnState
  readonly code: CodeProgress
  readonly request: RequestedTools
  /** Why the turn must stop; null when it may continue. */
  readonly stop: 'cancelled' | 'overdue' | null
}

/** What a turn needs next. It follows from the row alone, so every worker can continue where another one stopped. */
export function nextAction({ state, code, request, stop }: Decision): NextAction {
  const { items, incompleteReason } = state
  const end = (status: TerminalStatus, reason = incompleteReason): NextAction => ({ kind: 'end', status, incompleteReason: reason })
  if (stop === 'cancelled') return end('cancelled')
  if (stop === 'overdue') return end('incomplete', 'max_response_seconds')
  if (request.purpose === 'preparation') return end('completed')
  if (state.pending !== null) return { kind: PENDING[code.kind] }
  if (state.error !== null) return end('failed')
  const toStart = items.findIndex(isCodeWaiting)
  if (toStart >= 0) return { kind: 'start_code', index: toStart }
  const toUse = items.findIndex((item) => isOpenCall(item, request))
  if (toUse >= 0) return { kind: 'use_tool', index: toUse }
  if (incompleteReason !== null) return end('incomplete')
  const last = items.at(-1)
  const isAnswered = last?.type === 'message' && last.status === 'completed' && last.phase === 'final_answer'
  if (isAnswered || items.some(awaitsCaller)) return end('completed')
  return { kind: 'ask_model', isLast: state.consecutiveFailures >= LIMITS.maxConsecutiveFailures }
}

const PENDING = { missing: 'submit_code', running: 'wait_for_code', ended: 'collect_code' } as const
