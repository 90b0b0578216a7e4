import type { ResponseEvent } from '../../core/events.ts'
import type { Source } from '../../core/ports/tool.ts'
import type { CallStatus, Citation, ResponseItem, SearchItem } from '../../core/responses/response.ts'

/** What a step wrote to the log before it died without a commit. */
export interface Recovered {
  /** Items that the row does not have, as far as the log has them, in the order of their `output_index`. */
  readonly items: readonly { readonly item: ResponseItem; readonly isWritten: boolean; readonly isDone: boolean }[]
  /** Answers of this server's tools, by the `output_index` of a call that has none in the row. */
  readonly answers: ReadonlyMap<number, ResponseItem>
}

/** Reads the events that the row does not cover. `known` is the number of items in the row. */
export function recoverItems(events: readonly ResponseEvent[], known: number): Recovered {
  const found = new Map<number, { item: ResponseItem; isWritten: boolean; isDone: boolean }>()
  const answers = new Map<number, ResponseItem>()
  for (const { type, data } of events) {
    const index = data['output_index']
    if (typeof index !== 'number') continue
    if (index < known) {
      const answer = type === 'response.output_item.done' ? itemFromWire(data['item']) : null
      if (answer !== null && 'output' in answer && answer.output !== null) answers.set(index, answer)
      continue
    }
    if (type === 'response.output_item.added') {
      const item = itemFromWire(data['item'])
      if (item !== null) found.set(index, { item, isWritten: false, isDone: false })
      continue
    }
    const entry = found.get(index)
    if (entry === undefined) continue
    if (type === 'response.output_item.done') {
      entry.item = itemFromWire(data['item']) ?? entry.item
      entry.isDone = true
    } else if (type === 'response.content_part.added') {
      if ((data['part'] as { type?: unknown } | undefined)?.type === 'refusal' && entry.item.type === 'message')
        entry.item = { ...entry.item, isRefusal: true }
    } else if (type.endsWith('.delta') && typeof data['delta'] === 'string') {
      entry.item = withMore(entry.item, data['delta'])
    } else if (type === 'response.content_part.done' || type.endsWith('_code.done') || type.endsWith('_arguments.done')) {
      entry.isWritten = true
    }
  }
  const items = [...found.entries()].toSorted(([a], [b]) => a - b).map(([, entry]) => entry)
  return { items, answers }
}

function withMore(item: ResponseItem, delta: string): ResponseItem {
  switch (item.type) {
    case 'message':
      return { ...item, text: item.text + delta }
    case 'code_interpreter_call':
      return { ...item, code: item.code + delta }
    case 'function_call':
      return { ...item, arguments: item.arguments + delta }
    case 'web_search_call':
      return item
  }
}

type Wire = Readonly<Record<string, unknown>>

/** Parses what `renderItem` wrote. */
function itemFromWire(raw: unknown): ResponseItem | null {
  const wire = raw as Wire
  const id = String(wire['id'])
  const status = String(wire['status'])
  switch (wire['type']) {
    case 'message': {
      const part = (wire['content'] as readonly Wire[])[0]
      return {
        type: 'message',
        id,
        status: status as 'completed',
        text: firstText(part?.['text'], part?.['refusal']),
        citations: ((part?.['annotations'] ?? []) as readonly Wire[]).map(citationFromWire),
        phase: (wire['phase'] ?? null) as 'commentary' | 'final_answer' | null,
        isRefusal: part?.['type'] === 'refusal',
      }
    }
    case 'code_interpreter_call':
      return {
        type: 'code_interpreter_call',
        id,
        callId: id,
        containerId: String(wire['container_id']),
        code: String(wire['code']),
        status: status as CallStatus,
        outcome: null,
      }
    case 'function_call':
      return {
        type: 'function_call',
        id,
        callId: String(wire['call_id']),
        name: String(wire['name']),
        arguments: String(wire['arguments']),
        status: status === 'completed' ? 'completed' : 'incomplete',
        output: answerOf(wire),
        ...(sourcesOf(wire).length === 0 ? {} : { sources: sourcesOf(wire) }),
      }
    case 'web_search_call':
      return {
        type: 'web_search_call',
        id,
        callId: String((wire['x_cellblock'] as Wire)['call_id']),
        arguments: JSON.stringify({ query: (wire['action'] as Wire)['query'] }),
        status: status as SearchItem['status'],
        output: answerOf(wire),
        sources: sourcesOf(wire),
      }
    default:
      return null
  }
}

/** The answer of a server's tool is part of the item in the log, so that a tool whose answer readers have is not called again. */
const extraOf = (wire: Wire): Wire => (wire['x_cellblock'] ?? {}) as Wire
const answerOf = (wire: Wire): string | null => (typeof extraOf(wire)['output'] === 'string' ? String(extraOf(wire)['output']) : null)
const sourcesOf = (wire: Wire): readonly Source[] => (extraOf(wire)['sources'] ?? []) as readonly Source[]

function citationFromWire(wire: Wire): Citation {
  const place = { startIndex: Number(wire['start_index']), endIndex: Number(wire['end_index']) }
  return wire['type'] === 'url_citation'
    ? { url: String(wire['url']), title: String(wire['title']), ...place }
    : {
        containerId: String(wire['container_id']),
        fileId: String(wire['file_id']),
        filename: String(wire['filename']),
        ...place,
        ...(typeof extraOf(wire)['link_id'] === 'string' ? { linkId: String(extraOf(wire)['link_id']) } : {}),
      }
}

const firstText = (...values: readonly unknown[]): string => values.find((value) => typeof value === 'string') ?? ''
