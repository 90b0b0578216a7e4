import { renderCitation, renderContentPart, renderItem, type RenderOptions } from './render-response.ts'
import type { ResponseItem, SearchItem } from './response.ts'
import type { EventPayload } from '../events.ts'

export type MessageItem = Extract<ResponseItem, { type: 'message' }>
export type CodeItem = Extract<ResponseItem, { type: 'code_interpreter_call' }>
export type FunctionItem = Extract<ResponseItem, { type: 'function_call' }>

const NOTHING: RenderOptions = { include: [] }
const CODE = 'response.code_interpreter_call_code'
const CALL = 'response.code_interpreter_call'
const ARGUMENTS = 'response.function_call_arguments'
const SEARCH = 'response.web_search_call'

/** The events when an item appears, in the wire's order. `index` is its `output_index`. */
export function itemStarted(index: number, item: ResponseItem): EventPayload[] {
  const at = { output_index: index, item_id: item.id }
  switch (item.type) {
    case 'message':
      return [
        added(index, renderItem({ ...item, status: 'in_progress' }, NOTHING)),
        {
          type: 'response.content_part.added',
          data: { ...at, content_index: 0, part: renderContentPart({ ...item, text: '', citations: [] }) },
        },
      ]
    case 'code_interpreter_call':
      return [added(index, { ...renderItem(item, NOTHING), code: '', status: 'in_progress' }), { type: `${CALL}.in_progress`, data: at }]
    case 'function_call':
      return [added(index, { ...renderItem(item, NOTHING), arguments: '', status: 'in_progress' })]
    case 'web_search_call':
      return [added(index, renderItem(item, NOTHING)), { type: `${SEARCH}.in_progress`, data: at }]
  }
}

/** A piece of an item's text, code or arguments. A search has none on the wire. */
export function itemDelta(index: number, item: Exclude<ResponseItem, SearchItem>, delta: string): EventPayload {
  const at = { output_index: index, item_id: item.id }
  switch (item.type) {
    case 'message':
      return item.isRefusal
        ? { type: 'response.refusal.delta', data: { ...at, content_index: 0, delta } }
        : { type: 'response.output_text.delta', data: { ...at, content_index: 0, delta, logprobs: [] } }
    case 'code_interpreter_call':
      return { type: `${CODE}.delta`, data: { ...at, delta } }
    case 'function_call':
      return { type: `${ARGUMENTS}.delta`, data: { ...at, delta } }
  }
}

/** The events when the model has written the item, before anything runs. */
export function itemWritten(index: number, item: ResponseItem): EventPayload[] {
  const at = { output_index: index, item_id: item.id }
  switch (item.type) {
    case 'message': {
      const part = { ...at, content_index: 0 }
      const text: EventPayload = item.isRefusal
        ? { type: 'response.refusal.done', data: { ...part, refusal: item.text } }
        : { type: 'response.output_text.done', data: { ...part, text: item.text, logprobs: [] } }
      return [
        ...item.citations.map((citation, i): EventPayload => ({
          type: 'response.output_text.annotation.added',
          data: { ...part, annotation_index: i, annotation: renderCitation(citation) },
        })),
        text,
        { type: 'response.content_part.done', data: { ...part, part: renderContentPart(item) } },
      ]
    }
    case 'code_interpreter_call':
      return [{ type: `${CODE}.done`, data: { ...at, code: item.code } }]
    case 'function_call':
      return [{ type: `${ARGUMENTS}.done`, data: { ...at, name: item.name, arguments: item.arguments } }]
    case 'web_search_call':
      return []
  }
}

export const callInterpreting = (index: number, item: CodeItem): EventPayload => ({
  type: `${CALL}.interpreting`,
  data: { output_index: index, item_id: item.id },
})
export const callCompleted = (index: number, item: CodeItem): EventPayload => ({
  type: `${CALL}.completed`,
  data: { output_index: index, item_id: item.id },
})
export const searchProgress = (index: number, item: SearchItem, what: 'searching' | 'completed'): EventPayload => ({
  type: `${SEARCH}.${what}`,
  data: { output_index: index, item_id: item.id },
})
export const itemDone = (index: number, item: ResponseItem, options: RenderOptions): EventPayload => ({
  type: 'response.output_item.done',
  data: { output_index: index, item: renderItem(item, options) },
})

const added = (index: number, item: Readonly<Record<string, unknown>>): EventPayload => ({
  type: 'response.output_item.added',
  data: { output_index: index, item },
})
