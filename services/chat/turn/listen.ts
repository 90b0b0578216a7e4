import { ModelError, type ModelDelta, type ModelRequest } from '../../core/ports/chat-model.ts'
import type { OfferedModel } from '../../core/ports/model-catalogue.ts'
import type { AnswerStream } from '../answer/answer-stream.ts'
import type { LeaseHeartbeat } from '../../jobs/lease-heartbeat.ts'
import type { Turn } from './turn.ts'

/** `isBreak`: the answer had begun, so nobody has tried again yet. */
export interface Failure {
  readonly error: ModelError
  readonly isBreak: boolean
}

/** Reads the model's stream to its end; null when the answer is whole. */
export async function listen(
  model: OfferedModel,
  request: ModelRequest,
  answer: AnswerStream,
  turn: Turn,
  held: LeaseHeartbeat,
): Promise<Failure | null> {
  let hasBegun = false
  try {
    for await (const delta of model.chat.stream(request, held.signal)) {
      if (held.signal.aborted) break
      hasBegun = true
      if (delta.type === 'usage') addUsage(turn, delta)
      else if (delta.type === 'dropped_parameters') turn.noteDropped(delta.names)
      else await answer.push(delta)
    }
  } catch (cause) {
    if (cause instanceof ModelError) return { error: cause, isBreak: hasBegun }
    if (!held.signal.aborted) throw cause
  }
  if (answer.finishReason !== null && !held.signal.aborted) return null
  return { error: new ModelError('The answer of the model broke off. Try again.', { retryable: true, status: null }), isBreak: true }
}

function addUsage(turn: Turn, delta: Extract<ModelDelta, { type: 'usage' }>): void {
  turn.usage = {
    inputTokens: turn.usage.inputTokens + delta.inputTokens,
    cachedTokens: turn.usage.cachedTokens + delta.cachedTokens,
    outputTokens: turn.usage.outputTokens + delta.outputTokens,
    reasoningTokens: turn.usage.reasoningTokens + delta.reasoningTokens,
  }
}
