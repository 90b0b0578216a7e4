import { ModelError, type ChatModel, type ModelDelta, type ModelRequest } from '../../ports/chat-model.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ResponseUsage } from '../../model/responses/response.ts'
import type { AnswerStream } from './answer/answer-stream.ts'
import type { TurnChange, TurnView } from './turn-state.ts'
import { awaitsJobs, isCall, isOpenCall, type ResponseItem } from '../../model/responses/items/item-types.ts'

/** Why an answer is incomplete. `hasBegun`: the endpoint's client has not retried it, because a part of the answer had arrived. */
export interface Failure {
  readonly error: ModelError
  readonly hasBegun: boolean
}

export interface Received {
  readonly usage: ResponseUsage
  readonly droppedParameters: readonly string[]
  /** Null when the answer is complete. */
  readonly failure: Failure | null
}

/** Reads the model's stream into `answer`, to its end or until `signal` aborts. */
export async function receiveAnswer(
  chat: ChatModel,
  { state }: TurnView,
  { request, answer, signal }: { readonly request: ModelRequest; readonly answer: AnswerStream; readonly signal: AbortSignal },
): Promise<Received> {
  let { usage } = state
  let droppedParameters = state.droppedParameters
  let hasBegun = false
  const failed = (error: ModelError): Received => ({ usage, droppedParameters, failure: { error, hasBegun } })
  try {
    for await (const delta of chat.stream(request, signal)) {
      if (signal.aborted) break
      hasBegun = true
      if (delta.type === 'usage') usage = addUsage(usage, delta)
      else if (delta.type === 'dropped_parameters') droppedParameters = [...new Set([...droppedParameters, ...delta.names])]
      else await answer.push(delta)
    }
  } catch (cause) {
    if (cause instanceof ModelError) return failed(cause)
    if (!signal.aborted) throw cause
  }
  if (answer.finishReason !== null && !signal.aborted) return { usage, droppedParameters, failure: null }
  hasBegun = true
  return failed(new ModelError('The connection to the model was lost during its answer. Try again.', { retryable: true, status: null }))
}

const addUsage = (usage: ResponseUsage, delta: Extract<ModelDelta, { type: 'usage' }>): ResponseUsage => ({
  inputTokens: usage.inputTokens + delta.inputTokens,
  cachedTokens: usage.cachedTokens + delta.cachedTokens,
  outputTokens: usage.outputTokens + delta.outputTokens,
  reasoningTokens: usage.reasoningTokens + delta.reasoningTokens,
})

/** `rejected_calls`: the answer has only calls that became no item. */
export type Verdict = 'usable' | 'empty' | 'rejected_calls'

/** The changes of a complete answer to the turn, within the limits of a response. */
export function recordAnswer({ row, state }: TurnView, answer: AnswerStream) {
  const limit = Math.min(row.request.maxToolCalls ?? Infinity, LIMITS.maxToolCallsPerResponse)
  let { toolCalls, consecutiveFailures, incompleteReason } = state
  const items: [number, ResponseItem][] = []
  const finished: [number, ResponseItem][] = []
  for (const [offset, item] of answer.items.entries()) {
    const index = state.items.length + offset
    items.push([index, item])
    const isOpen = isOpenCall(item, row.request) || awaitsJobs(answer.items, offset)
    if (!isOpen && item.status !== 'failed') continue
    if (toolCalls >= limit) {
      incompleteReason = 'max_tool_calls'
      if (isOpen) finished.push([index, { ...item, status: 'incomplete' }])
      continue
    }
    toolCalls += 1
    if (item.status === 'failed') consecutiveFailures += 1
  }
  if (answer.finishReason === 'length') incompleteReason = 'max_output_tokens'
  if (answer.finishReason === 'content_filter') incompleteReason = 'content_filter'
  const change = { state: { toolCalls, consecutiveFailures, incompleteReason }, items, finished } satisfies TurnChange
  return { change, verdict: incompleteReason !== null ? 'usable' : verdictOn(answer) }
}

function verdictOn(answer: AnswerStream): Verdict {
  const hasCalls = answer.items.some(isCall)
  if (answer.rejectedCalls.length > 0 && !hasCalls) return 'rejected_calls'
  return hasCalls || answer.items.some(({ type }) => type === 'message') ? 'usable' : 'empty'
}
