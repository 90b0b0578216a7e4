import type { ContextCut, ResponseRecord, ResponseUsage } from './response.ts'
import { hasResponseEnded } from './response.ts'
import type { RenderOptions, Wire } from './items/item-type.ts'
import { renderItem, type ResponseItem } from './items/item-types.ts'

/**
 * A response as OpenAI's wire has it; times in whole seconds. The row must be complete: load input and items from their objects first
 * (`loadResponse`).
 */
export function renderResponse(response: ResponseRecord, options: RenderOptions): Record<string, unknown> {
  const { request } = response
  return {
    id: response.id,
    object: 'response',
    created_at: seconds(response.createdAt),
    completed_at: response.status === 'completed' && response.completedAt !== null ? seconds(response.completedAt) : null,
    status: response.status,
    background: request.background,
    error: response.error === null ? null : { code: errorCode(response.error.code), message: response.error.message },
    incomplete_details: response.incompleteReason === null ? null : incompleteDetails(response.incompleteReason),
    instructions: request.instructions,
    max_output_tokens: request.maxOutputTokens,
    max_tool_calls: request.maxToolCalls,
    metadata: request.metadata,
    model: request.model,
    output: response.items.map((item) => renderItem(item, options)),
    parallel_tool_calls: request.parallelToolCalls,
    previous_response_id: response.previousResponseId,
    conversation: response.conversationId === null ? null : { id: response.conversationId },
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: request.store,
    temperature: request.temperature ?? 1,
    top_p: request.topP ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    text: { format: { type: 'text' } },
    tool_choice: request.toolChoice ?? 'auto',
    tools: request.tools.map(renderTool),
    usage: hasResponseEnded(response.status) ? renderUsage(response.usage) : null,
    user: request.user,
    safety_identifier: null,
    prompt_cache_key: null,
    truncation: 'auto',
    ...request.echoed,
    x_cellblock: {
      container_id: response.containerId,
      error_code: response.error?.code ?? null,
      incomplete_reason: response.incompleteReason,
      usage: sandboxUsage(response.items),
      dropped_parameters: response.droppedParameters ?? [],
      context: response.contextCut === null ? null : renderContextCut(response.contextCut),
    },
  }
}

/** Codes and reasons that OpenAI's specification lists. Clients that are generated from it refuse others, so Cellblock's values are in `x_cellblock`. */
const ERROR_CODES: Readonly<Record<string, string>> = {
  rate_limit_exceeded: 'rate_limit_exceeded',
  context_length_exceeded: 'invalid_prompt',
  invalid_prompt: 'invalid_prompt',
}
const errorCode = (code: string): string => ERROR_CODES[code] ?? 'server_error'
const incompleteDetails = (reason: string): Wire => (reason === 'max_output_tokens' || reason === 'content_filter' ? { reason } : {})

/** The usage of all calls of a response; each item has that of its call. */
function sandboxUsage(items: readonly ResponseItem[]): Wire {
  const used = items.flatMap((item) => (item.type === 'code_interpreter_call' && item.outcome?.usage ? [item.outcome.usage] : []))
  return {
    sandbox_seconds: used.reduce((sum, usage) => sum + usage.sandboxSeconds, 0),
    peak_memory_bytes: Math.max(0, ...used.map((usage) => usage.peakMemoryBytes)),
    cost_usd: used.reduce((sum, usage) => sum + usage.costUsd, 0),
  }
}

/** Null in its place: the model read the whole conversation. */
export const renderContextCut = (cut: ContextCut): Wire => ({
  window_tokens: cut.windowTokens,
  trimmed_results: cut.trimmedResults,
  dropped_turns: cut.droppedTurns,
  dropped_calls: cut.droppedCalls,
  shortened_texts: cut.shortenedTexts,
  whole_history: cut.isHistoryWhole,
})

/** A function tool with all fields that clients expect. */
const renderTool = (tool: Wire): Wire =>
  tool['type'] === 'function' ? { description: null, parameters: null, strict: false, ...tool } : tool

const renderUsage = (usage: ResponseUsage): Wire => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
})

const seconds = (at: number): number => Math.floor(at / 1000)
