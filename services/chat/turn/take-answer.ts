import { LIMITS } from '../../core/limits.ts'
import { isOpenCall } from '../../core/responses/response.ts'
import type { AnswerStream } from '../answer/answer-stream.ts'
import type { Turn } from './turn.ts'

/** `unknown`: it called only tools that do not exist. */
export type TakenAnswer = 'taken' | 'empty' | 'unknown'

/** Takes the items of a closed answer into the turn and applies the limits that an answer can reach. */
export function takeAnswer(turn: Turn, answer: AnswerStream): TakenAnswer {
  const { maxToolCalls } = turn.row.request
  const limit = Math.min(maxToolCalls ?? Infinity, LIMITS.maxToolCallsPerResponse)
  for (const item of answer.items) {
    const index = turn.items.push(item) - 1
    const isCode = item.type === 'code_interpreter_call' && item.status !== 'incomplete'
    const isOpen = isOpenCall(item, turn.row.request)
    if (!isCode && !isOpen) continue
    if (turn.toolCalls >= limit) {
      turn.incompleteReason = 'max_tool_calls'
      if (isOpen || (isCode && item.outcome === null)) turn.finishItem(index, { ...item, status: 'incomplete' })
      continue
    }
    turn.toolCalls += 1
    if (item.status === 'failed') turn.consecutiveFailures += 1
  }
  if (answer.finishReason === 'length') turn.incompleteReason = 'max_output_tokens'
  if (answer.finishReason === 'content_filter') turn.incompleteReason = 'content_filter'
  if (turn.incompleteReason !== null) return 'taken'
  const calls = answer.items.some((item) => item.type !== 'message')
  if (answer.unknownCalls.length > 0 && !calls) return 'unknown'
  return answer.items.length === 0 ? 'empty' : 'taken'
}
