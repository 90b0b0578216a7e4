import * as z from 'zod'
import type { EventPayload } from '../../events.ts'
import type { Source } from '../source.ts'
import type { Entry } from './entry.ts'
import { answerOf, itemAdded, itemEvent, NO_OPTIONS, textOf, type ServerCallType } from './item-type.ts'

const ARGUMENTS = 'response.function_call_arguments'

/** A call of a client's function, or of a tool of this server without a separate type. */
export interface FunctionItem {
  readonly type: 'function_call'
  readonly id: string
  readonly callId: string
  readonly name: string
  readonly arguments: string
  readonly status: 'completed' | 'incomplete'
  /** The answer of a tool of this server; null for a client's function, whose answer comes with the next request. */
  readonly output: string | null
  /** The pages that the output is based on. */
  readonly sources?: readonly Source[]
}

export const functionCall: ServerCallType<FunctionItem> = {
  type: 'function_call',
  idKind: 'functionCall',
  toolName: null,
  begin: ({ id, callId, name }) => ({ type: 'function_call', id, callId, name, arguments: '', status: 'completed', output: null }),
  close: (item, args, isWhole) => ({ ...item, arguments: args, status: isWhole ? 'completed' : 'incomplete' }),
  wireFields: () => ({ call_id: z.string(), name: z.string(), arguments: z.string() }),
  render: (item) => ({
    id: item.id,
    type: 'function_call',
    call_id: item.callId,
    name: item.name,
    arguments: item.arguments,
    status: item.status,
    ...(item.output === null
      ? {}
      : { x_cellblock: { output: item.output, ...(item.sources === undefined ? {} : { sources: item.sources }) } }),
  }),
  parse(wire) {
    const { output, sources } = answerOf(wire)
    return {
      type: 'function_call',
      id: String(wire['id']),
      callId: String(wire['call_id']),
      name: String(wire['name']),
      arguments: String(wire['arguments']),
      status: wire['status'] === 'completed' ? 'completed' : 'incomplete',
      output,
      ...(sources.length === 0 ? {} : { sources }),
    }
  },
  started: (index, item) => [itemAdded(index, { ...functionCall.render(item, NO_OPTIONS), arguments: '', status: 'in_progress' })],
  delta,
  extend: (item, more) => ({ ...item, arguments: item.arguments + more }),
  written,
  replayed: (index, item) => [...(item.arguments === '' ? [] : [delta(index, item, item.arguments)]), ...written(index, item)],
  entries(item) {
    if (item.status !== 'completed') return []
    const call: Entry = { kind: 'call', call: { id: item.callId, name: item.name, arguments: item.arguments || '{}' } }
    return item.output === null ? [call] : [call, { kind: 'result', callId: item.callId, text: item.output }]
  },
  inputEntries: (wire) => [
    {
      kind: 'call',
      call: { id: textOf(wire['call_id'] ?? wire['id']), name: textOf(wire['name']), arguments: textOf(wire['arguments']) || '{}' },
    },
  ],
  isOpen: (item, tools) =>
    item.status === 'completed' && item.output === null && !tools.some((tool) => tool['type'] === 'function' && tool['name'] === item.name),
  awaitsCaller: (item) => item.status === 'completed' && item.output === null,
  working: () => [],
  answered: () => [],
  answer: (item, { output, sources }) => ({ ...item, output, ...(sources === undefined ? {} : { sources }) }),
}

function delta(index: number, item: FunctionItem, more: string): EventPayload {
  return itemEvent(`${ARGUMENTS}.delta`, { index, item }, { delta: more })
}

function written(index: number, item: FunctionItem): EventPayload[] {
  return [itemEvent(`${ARGUMENTS}.done`, { index, item }, { name: item.name, arguments: item.arguments })]
}
