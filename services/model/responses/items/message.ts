import * as z from 'zod'
import type { EventPayload } from '../../events.ts'
import type { Source } from '../source.ts'
import { itemAdded, itemEvent, NO_OPTIONS, type ItemType, type Wire } from './item-type.ts'

export interface MessageItem {
  readonly type: 'message'
  readonly id: string
  readonly status: 'in_progress' | 'completed' | 'incomplete'
  readonly text: string
  readonly citations: readonly Citation[]
  /** `commentary` accompanies tool calls of the same answer; `final_answer` ends the turn. */
  readonly phase: 'commentary' | 'final_answer' | null
  /** The model refused; `text` is its refusal. */
  readonly isRefusal: boolean
}

/** A range of an answer's text that cites a file of a container, or a page that a tool found. */
export type Citation = FileCitation | UrlCitation
interface Place {
  readonly startIndex: number
  readonly endIndex: number
}
export interface FileCitation extends Place {
  readonly containerId: string
  readonly fileId: string
  readonly filename: string
  /** Id of the link in that range, if there is one. */
  readonly linkId?: string
}
export interface UrlCitation extends Place, Source {}

export const message: ItemType<MessageItem> = {
  type: 'message',
  wireFields() {
    const place = { start_index: z.int(), end_index: z.int() }
    const file = { container_id: z.string(), file_id: z.string(), filename: z.string() }
    const annotation = z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('container_file_citation'), ...file, ...place }),
      z.looseObject({ type: z.literal('url_citation'), url: z.string(), title: z.string(), ...place }),
    ])
    const part = z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('output_text'), text: z.string(), annotations: z.array(annotation) }),
      z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
    ])
    return { role: z.literal('assistant'), content: z.array(part) }
  },
  render: (item) => ({
    id: item.id,
    type: 'message',
    role: 'assistant',
    status: item.status,
    ...(item.phase === null ? {} : { phase: item.phase }),
    content: item.status === 'in_progress' ? [] : [renderContentPart(item)],
  }),
  parse(wire) {
    const part = (wire['content'] as readonly Wire[])[0]
    const text = firstText(part?.['text'], part?.['refusal'])
    return {
      type: 'message',
      id: String(wire['id']),
      status: String(wire['status']) as 'completed',
      text,
      citations: ((part?.['annotations'] ?? []) as readonly Wire[]).map((annotation) => parseCitation(text, annotation)),
      phase: (wire['phase'] ?? null) as MessageItem['phase'],
      isRefusal: part?.['type'] === 'refusal',
    }
  },
  started: (index, item) => [
    itemAdded(index, message.render({ ...item, status: 'in_progress' }, NO_OPTIONS)),
    itemEvent(
      'response.content_part.added',
      { index, item },
      {
        content_index: 0,
        part: renderContentPart({ ...item, text: '', citations: [] }),
      },
    ),
  ],
  delta,
  extend: (item, more) => ({ ...item, text: item.text + more }),
  written,
  replayed: (index, item) => [...(item.text === '' ? [] : [delta(index, item, item.text)]), ...written(index, item)],
  entries(item, { isEnd, pathOf }) {
    const isKept = item.status === 'completed' || isEnd
    return isKept && item.text !== '' ? [{ kind: 'said', text: withPaths(item, pathOf) }] : []
  },
}

function delta(index: number, item: MessageItem, more: string): EventPayload {
  return item.isRefusal
    ? itemEvent('response.refusal.delta', { index, item }, { content_index: 0, delta: more })
    : itemEvent('response.output_text.delta', { index, item }, { content_index: 0, delta: more, logprobs: [] })
}

function written(index: number, item: MessageItem): EventPayload[] {
  const part = (type: string, fields: Wire): EventPayload => itemEvent(type, { index, item }, { content_index: 0, ...fields })
  return [
    ...item.citations.map((citation, at) =>
      part('response.output_text.annotation.added', { annotation_index: at, annotation: renderCitation(item.text, citation) }),
    ),
    item.isRefusal
      ? part('response.refusal.done', { refusal: item.text })
      : part('response.output_text.done', { text: item.text, logprobs: [] }),
    part('response.content_part.done', { part: renderContentPart(item) }),
  ]
}

/** The only content part of a message: text with its annotations, or a refusal. */
const renderContentPart = (item: Pick<MessageItem, 'text' | 'citations' | 'isRefusal'>): Wire =>
  item.isRefusal
    ? { type: 'refusal', refusal: item.text }
    : {
        type: 'output_text',
        text: item.text,
        annotations: item.citations.map((citation) => renderCitation(item.text, citation)),
        logprobs: [],
      }

/** Indexes on the wire count characters (code points), as Python's slices do; those of an item count UTF-16 units. */
function renderCitation(text: string, citation: Citation): Wire {
  const place = { start_index: charactersIn(text, citation.startIndex), end_index: charactersIn(text, citation.endIndex) }
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

function parseCitation(text: string, wire: Wire): Citation {
  const place = { startIndex: unitsOf(text, Number(wire['start_index'])), endIndex: unitsOf(text, Number(wire['end_index'])) }
  if (wire['type'] === 'url_citation') return { url: String(wire['url']), title: String(wire['title']), ...place }
  const linkId = ((wire['x_cellblock'] ?? {}) as Wire)['link_id']
  return {
    containerId: String(wire['container_id']),
    fileId: String(wire['file_id']),
    filename: String(wire['filename']),
    ...place,
    ...(typeof linkId === 'string' ? { linkId } : {}),
  }
}

/** The number of characters before a position in UTF-16 units. */
export const charactersIn = (text: string, units: number): number =>
  units - (text.slice(0, units).match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

/** The position of a character in UTF-16 units. */
function unitsOf(text: string, characters: number): number {
  let units = 0
  for (let count = 0; count < characters && units < text.length; count++) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1
  return units
}

/** The text with the paths that the model wrote instead of the links that replaced them. */
function withPaths(item: MessageItem, pathOf: (fileId: string) => string | null): string {
  let text = item.text
  for (const citation of item.citations.toReversed()) {
    if ('url' in citation) continue
    const shown = text.slice(citation.startIndex, citation.endIndex)
    if (!/^https?:\/\//.test(shown)) continue
    text = `${text.slice(0, citation.startIndex)}sandbox:/mnt/data/${pathOf(citation.fileId) ?? citation.filename}${text.slice(citation.endIndex)}`
  }
  return text
}

const firstText = (...values: readonly unknown[]): string => values.find((value) => typeof value === 'string') ?? ''
