import * as z from 'zod'
import type { EventPayload } from '../../events.ts'
import { itemAdded, itemEvent, NO_OPTIONS, objectsIn, textOf, type ItemType, type Wire } from './item-type.ts'

/** What the model wrote before its answer. Readers may open it; the model never receives it again. */
export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly id: string
  readonly status: 'in_progress' | 'completed' | 'incomplete'
  readonly text: string
}

const partOf = ({ text }: Pick<ReasoningItem, 'text'>): Wire => ({ type: 'reasoning_text', text })
const delta = (index: number, item: ReasoningItem, more: string): EventPayload =>
  itemEvent('response.reasoning_text.delta', { index, item }, { content_index: 0, delta: more })
const written = (index: number, item: ReasoningItem): EventPayload[] => [
  itemEvent('response.reasoning_text.done', { index, item }, { content_index: 0, text: item.text }),
  itemEvent('response.content_part.done', { index, item }, { content_index: 0, part: partOf(item) }),
]

export const reasoning: ItemType<ReasoningItem> = {
  type: 'reasoning',
  wireFields: () => ({
    summary: z.array(z.unknown()),
    content: z.array(z.looseObject({ type: z.literal('reasoning_text'), text: z.string() })),
  }),
  render: (item) => ({
    id: item.id,
    type: 'reasoning',
    status: item.status,
    summary: [],
    content: item.status === 'in_progress' ? [] : [partOf(item)],
  }),
  parse: (wire) => ({
    type: 'reasoning',
    id: String(wire['id']),
    status: String(wire['status']) as ReasoningItem['status'],
    text: objectsIn(wire['content'])
      .map(({ text }) => textOf(text))
      .join(''),
  }),
  started: (index, item) => [
    itemAdded(index, reasoning.render({ ...item, status: 'in_progress' }, NO_OPTIONS)),
    itemEvent('response.content_part.added', { index, item }, { content_index: 0, part: partOf({ text: '' }) }),
  ],
  delta,
  extend: (item, more) => ({ ...item, text: item.text + more }),
  written,
  replayed: (index, item) => [...(item.text === '' ? [] : [delta(index, item, item.text)]), ...written(index, item)],
  entries: () => [],
}
