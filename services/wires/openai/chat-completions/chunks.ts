import { errorEnvelope } from '../../../http/error-response.ts'
import { SSE_COMMENT } from '../../../http/sse.ts'
import { DONE_FRAME } from '../responses/frames.ts'
import { failureOf } from '../turn-failure.ts'
import { extensionOf, finishReason, SEPARATOR, usageOf, type Completion, type Wire } from './render.ts'
import type { ResponseEvent } from '../../../model/events.ts'
import { TERMINAL_EVENTS } from '../../../model/responses/response.ts'

export interface ChunkOptions {
  readonly requestId: string
  /** Whether a last chunk has the usage, as `stream_options.include_usage` asks. */
  readonly hasUsage: boolean
}

/** The events of a response as chunks of a chat completion. Code and its output have no form on this wire: only texts and the caller's functions show. */
export async function* chunkFrames(
  events: AsyncIterable<ResponseEvent | null>,
  completion: Completion,
  { requestId, hasUsage }: ChunkOptions,
): AsyncGenerator<string, void, undefined> {
  const { id, created, model } = completion
  const chunk = (fields: Wire): string =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...fields, ...(hasUsage && !('usage' in fields) ? { usage: null } : {}) })}\n\n`
  const choice = (delta: Wire, finish: string | null = null): Wire => ({
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
  })
  yield chunk(choice({ role: 'assistant', content: '', refusal: null }))
  const deltas = new DeltaReader(completion)
  for await (const event of events) {
    if (event === null) {
      yield SSE_COMMENT
      continue
    }
    const delta = deltas.read(event)
    if (delta !== null) yield chunk(choice(delta))
    if (!TERMINAL_EVENTS.includes(event.type)) continue
    const response = event.data['response'] as Wire
    const failure = failureOf(response)
    if (failure !== null) {
      yield `data: ${JSON.stringify(errorEnvelope({ code: failure.code, message: failure.message, param: null }, requestId))}\n\n`
      return
    }
    yield chunk({ ...choice({}, finishReason(completion, response)), x_cellblock: extensionOf(completion, response) })
    if (hasUsage) yield chunk({ choices: [], usage: usageOf(response) })
    yield DONE_FRAME
  }
}

/** Reads what an event adds to the message. */
class DeltaReader {
  readonly #functions: ReadonlySet<string>
  /** The `index` of each of the caller's calls, by the id of its item. */
  readonly #calls = new Map<unknown, number>()
  #textItem: unknown = null

  constructor({ functions }: Pick<Completion, 'functions'>) {
    this.#functions = functions
  }

  read({ type, data }: ResponseEvent): Wire | null {
    switch (type) {
      case 'response.output_text.delta':
        return { content: this.#separator(data['item_id']) + String(data['delta']) }
      case 'response.refusal.delta':
        return { refusal: data['delta'] }
      case 'response.output_item.added':
        return this.#start(data['item'] as Wire)
      case 'response.function_call_arguments.delta': {
        const index = this.#calls.get(data['item_id'])
        return index === undefined ? null : { tool_calls: [{ index, function: { arguments: data['delta'] } }] }
      }
      default:
        return null
    }
  }

  #separator(item: unknown): string {
    const isNext = this.#textItem !== null && this.#textItem !== item
    this.#textItem = item
    return isNext ? SEPARATOR : ''
  }

  #start(item: Wire): Wire | null {
    if (item['type'] !== 'function_call' || !this.#functions.has(String(item['name']))) return null
    const index = this.#calls.size
    this.#calls.set(item['id'], index)
    return { tool_calls: [{ index, id: item['call_id'], type: 'function', function: { name: item['name'], arguments: '' } }] }
  }
}
