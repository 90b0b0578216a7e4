import { LIMITS } from '../../core/limits.ts'
import { isOpenCall, type ResponseItem, type ResponseRequest } from '../../core/responses/response.ts'
import type { Turn } from './turn.ts'

export type NextAction =
  /** Code was handed over: look whether it has ended. */
  | { readonly kind: 'settle' }
  /** The interpreter call at this index waits to be run. */
  | { readonly kind: 'start'; readonly index: number }
  /** The call of a server's tool at this index waits for its answer. */
  | { readonly kind: 'use_tool'; readonly index: number }
  /** `isLast`: without tools, because too many tries have failed. */
  | { readonly kind: 'ask'; readonly isLast: boolean }
  | { readonly kind: 'end'; readonly status: 'completed' | 'failed' | 'incomplete' }

type State = Pick<Turn, 'pending' | 'error' | 'incompleteReason' | 'consecutiveFailures'> & {
  readonly row: { readonly request: Pick<ResponseRequest, 'tools'> }
  readonly items: readonly ResponseItem[]
}

/** What a turn needs next, from what it has come to alone: so any step can go on where another one stopped. */
export function nextAction(turn: State): NextAction {
  const { items } = turn
  if (turn.pending !== null) return { kind: 'settle' }
  if (turn.error !== null) return { kind: 'end', status: 'failed' }
  const toStart = items.findIndex(
    (item) =>
      item.type === 'code_interpreter_call' && item.outcome === null && (item.status === 'in_progress' || item.status === 'interpreting'),
  )
  if (toStart >= 0) return { kind: 'start', index: toStart }
  const toUse = items.findIndex((item) => isOpenCall(item, turn.row.request))
  if (toUse >= 0) return { kind: 'use_tool', index: toUse }
  if (turn.incompleteReason !== null) return { kind: 'end', status: 'incomplete' }
  const last = items.at(-1)
  const isAnswered = last?.type === 'message' && last.status === 'completed' && last.phase === 'final_answer'
  const asksCaller = items.some((item) => item.type === 'function_call' && item.status === 'completed' && item.output === null)
  if (isAnswered || asksCaller) return { kind: 'end', status: 'completed' }
  return { kind: 'ask', isLast: turn.consecutiveFailures >= LIMITS.maxConsecutiveFailures }
}
