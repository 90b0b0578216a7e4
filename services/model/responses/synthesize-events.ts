import type { EventPayload, ResponseEvent } from '../events.ts'
import { renderResponse } from './render-response.ts'
import { terminalEventOf, type ResponseRecord } from './response.ts'
import { itemDone, itemReplayed, itemStarted } from './items/item-types.ts'

/** The stream of a response that has ended, synthesized from its whole row: each item in one piece. */
export function synthesizeEvents(row: ResponseRecord): readonly ResponseEvent[] {
  const { include } = row.request
  const say = (type: string, change: Partial<ResponseRecord> = {}): EventPayload => ({
    type,
    data: { response: renderResponse({ ...row, ...change }, { include }) },
  })
  const beginning = { items: [], error: null, incompleteReason: null, completedAt: null }
  const payloads = [
    say('response.created', { ...beginning, status: 'in_progress' }),
    say('response.in_progress', { ...beginning, status: 'in_progress' }),
    ...row.items.flatMap((item, index) => [...itemStarted(index, item), ...itemReplayed(index, item), itemDone(index, item, { include })]),
    say(terminalEventOf(row.status)),
  ]
  const at = row.completedAt ?? row.createdAt
  return payloads.map((payload, seq) => ({ seq, at, ...payload }))
}
