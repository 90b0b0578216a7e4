import type { ResponseEvent } from '../../model/events.ts'
import type { Wire } from '../../model/responses/items/item-type.ts'
import { extendItem, isServerCall, parseItem, type ResponseItem } from '../../model/responses/items/item-types.ts'

/** Events that a step wrote to the log before it crashed without a commit. */
export interface Recovered {
  /** Items in the log that are not in the row, in the order of their `output_index`. */
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
      const answer = type === 'response.output_item.done' ? parseItem(data['item'] as Wire) : null
      if (answer !== null && isServerCall(answer) && answer.output !== null) answers.set(index, answer)
      continue
    }
    if (type === 'response.output_item.added') {
      const item = parseItem(data['item'] as Wire)
      if (item !== null) found.set(index, { item, isWritten: false, isDone: false })
      continue
    }
    const entry = found.get(index)
    if (entry === undefined) continue
    if (type === 'response.output_item.done') {
      entry.item = parseItem(data['item'] as Wire) ?? entry.item
      entry.isDone = true
    } else if (type === 'response.content_part.added') {
      if ((data['part'] as { type?: unknown } | undefined)?.type === 'refusal' && entry.item.type === 'message')
        entry.item = { ...entry.item, isRefusal: true }
    } else if (type.endsWith('.delta') && typeof data['delta'] === 'string') {
      entry.item = extendItem(entry.item, data['delta'])
    } else if (type === 'response.content_part.done' || type.endsWith('_code.done') || type.endsWith('_arguments.done')) {
      entry.isWritten = true
    }
  }
  const items = [...found.entries()].toSorted(([a], [b]) => a - b).map(([, entry]) => entry)
  return { items, answers }
}
