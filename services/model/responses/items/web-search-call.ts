import * as z from 'zod'
import type { Source } from '../source.ts'
import { argumentsOf, answerOf, itemAdded, itemEvent, NO_OPTIONS, textOf, type ServerCallType, type Wire } from './item-type.ts'

/** The wire's type of the tool, and what the model calls it. */
export const WEB_SEARCH = 'web_search'
/** The value of `include` that adds the pages. */
const SOURCES = 'web_search_call.action.sources'
const SEARCH = 'response.web_search_call'

/** A call of the web search, which has its own item type on the wire. */
export interface SearchItem {
  readonly type: 'web_search_call'
  readonly id: string
  readonly callId: string
  /** JSON as the model wrote it. */
  readonly arguments: string
  readonly status: 'in_progress' | 'searching' | 'completed' | 'incomplete' | 'failed'
  /** What the model reads; null until the search has ended. */
  readonly output: string | null
  readonly sources: readonly Source[]
}

export const webSearchCall: ServerCallType<SearchItem> = {
  type: 'web_search_call',
  include: { name: SOURCES, description: 'the pages that a search found' },
  progressEvents: [`${SEARCH}.searching`, `${SEARCH}.completed`],
  idKind: 'search',
  toolName: WEB_SEARCH,
  begin: ({ id, callId }) => ({ type: 'web_search_call', id, callId, arguments: '', status: 'in_progress', output: null, sources: [] }),
  close: (item, args, isWhole) => ({ ...item, arguments: args, status: isWhole ? 'in_progress' : 'incomplete' }),
  wireFields: () => ({
    action: z.looseObject({ type: z.literal('search'), query: z.string(), queries: z.array(z.string()) }),
  }),
  render(item, { include }) {
    const query = queryOf(item.arguments)
    const sources = include.includes(SOURCES) ? { sources: item.sources.map(({ url }) => ({ type: 'url', url })) } : {}
    return {
      id: item.id,
      type: 'web_search_call',
      status: item.status,
      action: { type: 'search', query, queries: query === '' ? [] : [query], ...sources },
      x_cellblock: { call_id: item.callId, ...(item.output === null ? {} : { output: item.output, sources: item.sources }) },
    }
  },
  parse: (wire) => ({
    type: 'web_search_call',
    id: String(wire['id']),
    callId: String((wire['x_cellblock'] as Wire)['call_id']),
    arguments: JSON.stringify({ query: (wire['action'] as Wire)['query'] }),
    status: String(wire['status']) as SearchItem['status'],
    ...answerOf(wire),
  }),
  started: (index, item) => [itemAdded(index, webSearchCall.render(item, NO_OPTIONS)), itemEvent(`${SEARCH}.in_progress`, { index, item })],
  written: () => [],
  replayed: (index, item) => [...webSearchCall.working(index, item), ...webSearchCall.answered(index, item)],
  entries: ({ callId, output, arguments: args }) =>
    output === null
      ? []
      : [
          { kind: 'call', call: { id: callId, name: WEB_SEARCH, arguments: args || '{}' } },
          { kind: 'result', callId, text: output },
        ],
  inputEntries(wire) {
    const callId = textOf(wire['id'])
    const action = wire['action'] as Wire | undefined
    const extra = wire['x_cellblock'] as Wire | undefined
    return [
      { kind: 'call', call: { id: callId, name: WEB_SEARCH, arguments: JSON.stringify({ query: textOf(action?.['query']) }) } },
      { kind: 'result', callId, text: textOf(extra?.['output']) || '(its results were not kept)' },
    ]
  },
  isOpen: ({ status }) => status === 'in_progress' || status === 'searching',
  working: (index, item) => [itemEvent(`${SEARCH}.searching`, { index, item })],
  answered: (index, item) => (item.status === 'completed' ? [itemEvent(`${SEARCH}.completed`, { index, item })] : []),
  answer: (item, { output, isError, sources = [] }) => ({ ...item, status: isError ? 'failed' : 'completed', output, sources }),
}

/** The query of a search; empty until the model has written it. */
const queryOf = (args: string): string => textOf(argumentsOf(args)['query'])
