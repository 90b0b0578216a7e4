import type { EventPayload, ResponseEvent } from '../events.ts'
import { callCompleted, callInterpreting, itemDelta, itemDone, itemStarted, itemWritten, searchProgress } from './item-events.ts'
import { renderResponse } from './render-response.ts'
import { terminalEventOf, type ResponseRecord, type ResponseItem } from './response.ts'

/** The stream of a response that has ended, synthesized from its whole row: each item in one piece. */
export function synthesizeEvents(row: ResponseRecord): readonly ResponseEvent[] {
  const { include } = row.request
  const say = (type: string, change: Partial<ResponseRecord> = {}): EventPayload => ({
    type,
    data: { response: renderResponse({ ...row, ...change }, { include }) },
  })
  const beginning = { items: [], error: null, incompleteReason: null, completedAt: null }
  const facts = [
    say('response.created', { ...beginning, status: 'in_progress' }),
    say('response.in_progress', { ...beginning, status: 'in_progress' }),
    ...row.items.flatMap((item, index) => [...itemStarted(index, item), ...bodyOf(index, item), itemDone(index, item, { include })]),
    say(terminalEventOf(row.status)),
  ]
  const at = row.completedAt ?? row.createdAt
  return facts.map((fact, seq) => ({ seq, at, ...fact }))
}

/** The events of an item between its first event and its last. */
function bodyOf(index: number, item: ResponseItem): readonly EventPayload[] {
  if (item.type === 'web_search_call') {
    const isCompleted = item.status === 'completed'
    return [searchProgress(index, item, 'searching'), ...(isCompleted ? [searchProgress(index, item, 'completed')] : [])]
  }
  const whole = item.type === 'message' ? item.text : item.type === 'code_interpreter_call' ? item.code : item.arguments
  const written = [...(whole === '' ? [] : [itemDelta(index, item, whole)]), ...itemWritten(index, item)]
  if (item.type !== 'code_interpreter_call' || (item.outcome?.executionId ?? null) === null) return written
  return [...written, callInterpreting(index, item), ...(item.status === 'completed' ? [callCompleted(index, item)] : [])]
}
