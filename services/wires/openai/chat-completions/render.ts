import { charactersIn } from '../../../model/responses/items/message.ts'
import { UNSUPPORTED, type CreateChatCompletion } from './schema.ts'
import { failureOf } from '../turn-failure.ts'

export type Wire = Readonly<Record<string, unknown>>

/** The fields of a request that its answer needs. */
export interface Completion {
  readonly id: string
  /** Epoch seconds. */
  readonly created: number
  readonly model: string
  /** Names of the caller's functions: calls of this server's tools are not shown. */
  readonly functions: ReadonlySet<string>
  /** Parameters of the request that have no effect here. */
  readonly unsupported: readonly string[]
}

export const completionOf = (row: { readonly id: string; readonly createdAt: number }, body: CreateChatCompletion): Completion => ({
  id: row.id.replace(/^resp_/, 'chatcmpl-'),
  created: Math.floor(row.createdAt / 1000),
  model: body.model,
  functions: new Set((body.tools ?? []).flatMap((tool) => (tool.type === 'function' && tool.function ? [tool.function.name] : []))),
  unsupported: UNSUPPORTED.filter((name) => body[name] !== undefined && body[name] !== null),
})

/** Texts before and after code are one text on this wire. */
export const SEPARATOR = '\n\n'

/** The whole answer. `response` is the ended response as the Responses wire has it. Throws ServiceError for a turn that failed. */
export function renderCompletion(completion: Completion, response: Wire): Wire {
  const failure = failureOf(response)
  if (failure !== null) throw failure
  const { text, refusal, annotations } = textOf(response)
  const calls = callsOf(completion, response)
  return {
    id: completion.id,
    object: 'chat.completion',
    created: completion.created,
    model: completion.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && (calls.length > 0 || refusal !== null) ? null : text,
          refusal,
          annotations,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: finishReason(completion, response),
        logprobs: null,
      },
    ],
    usage: usageOf(response),
    service_tier: 'default',
    x_cellblock: extensionOf(completion, response),
  }
}

function textOf(response: Wire): { readonly text: string; readonly refusal: string | null; readonly annotations: readonly Wire[] } {
  let text = ''
  let refusal: string | null = null
  const annotations: Wire[] = []
  for (const part of itemsOf(response, 'message').flatMap((item) => item['content'] as readonly Wire[])) {
    if (part['type'] === 'refusal') {
      refusal = String(part['refusal'])
      continue
    }
    if (text !== '') text += SEPARATOR
    for (const citation of part['annotations'] as readonly Wire[])
      if (citation['type'] === 'url_citation') annotations.push(urlCitation(citation, charactersIn(text, text.length)))
    text += String(part['text'])
  }
  return { text, refusal, annotations }
}

const urlCitation = ({ url, title, start_index: start, end_index: end }: Wire, offset: number): Wire => ({
  type: 'url_citation',
  url_citation: { url, title, start_index: Number(start) + offset, end_index: Number(end) + offset },
})

const callsOf = ({ functions }: Completion, response: Wire): readonly Wire[] =>
  itemsOf(response, 'function_call')
    .filter((item) => functions.has(String(item['name'])) && item['status'] === 'completed')
    .map((item) => ({ id: item['call_id'], type: 'function', function: { name: item['name'], arguments: item['arguments'] } }))

export function finishReason(completion: Completion, response: Wire): 'stop' | 'length' | 'tool_calls' | 'content_filter' {
  if (response['status'] === 'completed') return callsOf(completion, response).length > 0 ? 'tool_calls' : 'stop'
  const { incomplete_reason: reason } = response['x_cellblock'] as Wire
  return reason === 'content_filter' ? 'content_filter' : 'length'
}

export function usageOf({ usage }: Wire): Wire {
  const { input_tokens: input, output_tokens: output, total_tokens: total, ...details } = (usage ?? {}) as Wire
  const { cached_tokens: cached = 0 } = (details['input_tokens_details'] ?? {}) as Wire
  const { reasoning_tokens: reasoning = 0 } = (details['output_tokens_details'] ?? {}) as Wire
  return {
    prompt_tokens: input ?? 0,
    completion_tokens: output ?? 0,
    total_tokens: total ?? 0,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

export function extensionOf({ unsupported }: Completion, response: Wire): Wire {
  const { container_id, dropped_parameters, incomplete_reason, context } = response['x_cellblock'] as Wire
  const outcomes = itemsOf(response, 'code_interpreter_call').flatMap((item) => (item['x_cellblock'] ? [item['x_cellblock'] as Wire] : []))
  const all = (name: 'files' | 'images'): readonly unknown[] => outcomes.flatMap((outcome) => outcome[name] as readonly unknown[])
  return {
    response_id: response['id'],
    container_id,
    files: all('files'),
    images: all('images'),
    incomplete_reason,
    context,
    dropped_parameters: [...unsupported, ...(dropped_parameters as readonly string[])],
  }
}

const itemsOf = (response: Wire, type: string): readonly Wire[] =>
  (response['output'] as readonly Wire[]).filter((item) => item['type'] === type)
