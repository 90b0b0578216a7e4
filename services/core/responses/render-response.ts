import type { Lost } from '../executions/execution.ts'
import type { LinkedFile, CallOutcome, Citation, ContextCut, ResponseRecord, ResponseItem, ResponseUsage } from './response.ts'
import { hasResponseEnded } from './response.ts'

type Wire = Readonly<Record<string, unknown>>

/** `include` holds the wire's names of optional parts, for example `code_interpreter_call.outputs`. */
export interface RenderOptions {
  readonly include: readonly string[]
}

/**
 * A response as OpenAI's wire has it; times in whole seconds. The row must be whole: an input or items that lie in an object are loaded
 * first (`loadResponse`).
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

/** Codes and reasons that OpenAI's specification lists. Clients generated from it refuse others, so ours are in `x_cellblock`. */
const ERROR_CODES: Readonly<Record<string, string>> = {
  rate_limit_exceeded: 'rate_limit_exceeded',
  context_length_exceeded: 'invalid_prompt',
  invalid_prompt: 'invalid_prompt',
}
const errorCode = (code: string): string => ERROR_CODES[code] ?? 'server_error'
const incompleteDetails = (reason: string): Wire => (reason === 'max_output_tokens' || reason === 'content_filter' ? { reason } : {})

/** What the calls of a response used together; each call's own is on its item. */
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

/** One output item. `outputs` of a code call is null unless the caller asked for it; `x_cellblock` is there as soon as the call has ended. */
export function renderItem(item: ResponseItem, options: RenderOptions): Record<string, unknown> {
  switch (item.type) {
    case 'message':
      return {
        id: item.id,
        type: 'message',
        role: 'assistant',
        status: item.status,
        ...(item.phase === null ? {} : { phase: item.phase }),
        content: item.status === 'in_progress' ? [] : [renderContentPart(item)],
      }
    case 'function_call':
      return {
        id: item.id,
        type: 'function_call',
        call_id: item.callId,
        name: item.name,
        arguments: item.arguments,
        status: item.status,
        ...(item.output === null
          ? {}
          : { x_cellblock: { output: item.output, ...(item.sources === undefined ? {} : { sources: item.sources }) } }),
      }
    case 'web_search_call': {
      const query = queryOf(item.arguments)
      const sources = options.include.includes('web_search_call.action.sources')
        ? { sources: item.sources.map(({ url }) => ({ type: 'url', url })) }
        : {}
      return {
        id: item.id,
        type: 'web_search_call',
        status: item.status,
        action: { type: 'search', query, queries: query === '' ? [] : [query], ...sources },
        x_cellblock: { call_id: item.callId, ...(item.output === null ? {} : { output: item.output, sources: item.sources }) },
      }
    }
    case 'code_interpreter_call': {
      const shown = options.include.includes('code_interpreter_call.outputs') && item.outcome !== null
      return {
        id: item.id,
        type: 'code_interpreter_call',
        container_id: item.containerId,
        code: item.code,
        status: item.status,
        outputs: shown ? renderOutputs(item.outcome) : null,
        ...(item.outcome === null ? {} : { x_cellblock: renderOutcome(item.outcome) }),
      }
    }
  }
}

/** The only content part of a message: text with its annotations, or a refusal. */
export const renderContentPart = (item: {
  readonly text: string
  readonly citations: readonly Citation[]
  readonly isRefusal: boolean
}): Wire =>
  item.isRefusal
    ? { type: 'refusal', refusal: item.text }
    : { type: 'output_text', text: item.text, annotations: item.citations.map(renderCitation), logprobs: [] }

/** Indexes count UTF-16 code units, as JavaScript's `slice` does. */
export function renderCitation(citation: Citation): Wire {
  const place = { start_index: citation.startIndex, end_index: citation.endIndex }
  return 'url' in citation
    ? { type: 'url_citation', url: citation.url, title: citation.title, ...place }
    : {
        type: 'container_file_citation',
        container_id: citation.containerId,
        file_id: citation.fileId,
        filename: citation.filename,
        ...place,
        ...(citation.linkId === undefined ? {} : { x_cellblock: { link_id: citation.linkId } }),
      }
}

/** What a search asks for; empty while the model has not written it. */
function queryOf(args: string): string {
  try {
    const { query } = JSON.parse(args) as { readonly query?: unknown }
    return typeof query === 'string' ? query : ''
  } catch {
    return ''
  }
}

function renderOutputs(outcome: CallOutcome): readonly Wire[] {
  const logs = outcome.logs === '' ? [] : [{ type: 'logs', logs: outcome.logs }]
  return [...logs, ...outcome.images.map((image) => ({ type: 'image', url: image.dataUrl ?? image.url }))]
}

function renderOutcome(outcome: CallOutcome): Wire {
  return {
    execution_id: outcome.executionId,
    status: outcome.status,
    reason: outcome.reason,
    error: outcome.error,
    files: outcome.files.map(renderFile),
    images: outcome.images.map(({ url, mime, linkId }) => ({ url, mime, ...(linkId === undefined ? {} : { link_id: linkId }) })),
    lost: outcome.lost.map(({ what, reason }: Lost) => ({ what, reason })),
    usage:
      outcome.usage === null ? null : Object.fromEntries(Object.entries(outcome.usage).map(([name, value]) => [snakeCase(name), value])),
    outputs: outcome.outputs,
  }
}

const renderFile = (file: LinkedFile): Wire => ({
  id: file.id,
  path: `/mnt/data/${file.path}`,
  bytes: file.bytes,
  sha256: file.sha256,
  mime: file.mime,
  url: file.url,
  ...(file.linkId === undefined ? {} : { link_id: file.linkId }),
  is_new: file.isNew,
  ...(file.modifiedFrom === null ? {} : { modified_from: file.modifiedFrom }),
})

/** A function tool comes back with the fields that clients expect to be there. */
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
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
