import type { ModelMessage, ModelRequest } from '../../ports/chat-model.ts'
import type { OfferedModel } from '../../ports/model-catalogue.ts'
import type { ResponseRequest } from '../../model/responses/response.ts'
import type { OfferedTools } from './tools/offered-tools.ts'

type Wire = Readonly<Record<string, unknown>>

/** The request to the model. `isLast`: it must answer with text. */
export function modelRequest(
  request: ResponseRequest,
  model: OfferedModel,
  offered: OfferedTools,
  messages: readonly ModelMessage[],
  isLast: boolean,
): ModelRequest {
  const text = objectOf(request.echoed?.['text'])
  return {
    model: model.upstreamName,
    messages,
    tools: offered.tools,
    toolChoice: isLast ? 'none' : offered.choice,
    temperature: request.temperature,
    topP: request.topP,
    maxOutputTokens: request.maxOutputTokens,
    parallelToolCalls: request.parallelToolCalls,
    responseFormat: responseFormat(objectOf(text['format'])),
    reasoningEffort: stringOf(objectOf(request.echoed?.['reasoning'])['effort']),
    verbosity: stringOf(text['verbosity']),
    // A summary is written from the calls as text, because some endpoints reject calls in a request without tools.
    fencesCode: model.fencesCode || request.purpose === 'compaction',
  }
}

/** `text.format` as Chat Completions has it. Plain text is the default of every model. */
function responseFormat(format: Wire): Wire | null {
  if (format['type'] === 'json_object') return { type: 'json_object' }
  if (format['type'] !== 'json_schema') return null
  const { type: _type, ...schema } = format
  return { type: 'json_schema', json_schema: schema }
}

const objectOf = (value: unknown): Wire => (typeof value === 'object' && value !== null ? (value as Wire) : {})
const stringOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
