import { isDeepStrictEqual } from 'node:util'
import type { ResponseEvent } from '../../services/model/events.ts'
import { TERMINAL_EVENTS, terminalEventOf, type ResponseRecord } from '../../services/model/responses/response.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * Returns the defects of the stream of an ended response. A correct stream has consecutive numbers from 0, one start and one end; every
 * item starts once and is done once; all deltas of an item lie between and add up to its text; and the items match the row.
 */
export function streamFaults(events: readonly ResponseEvent[], row: ResponseRecord): readonly string[] {
  const faults: string[] = []
  const numbers = events.map((event) => event.seq)
  if (numbers.some((seq, index) => seq !== index)) faults.push(`numbers ${numbers.join(' ')}`)
  if (events[0]?.type !== 'response.created') faults.push(`begins with ${events[0]?.type}`)
  for (const type of ['response.created', 'response.in_progress']) {
    const count = events.filter((event) => event.type === type).length
    if (count !== 1) faults.push(`${count} times ${type}`)
  }
  const ends = events.filter((event) => TERMINAL_EVENTS.includes(event.type)).map((event) => event.type)
  if (ends.join() !== terminalEventOf(row.status) || events.at(-1)?.type !== ends[0])
    faults.push(`ends with ${ends.join(' and ')}, the last event is ${events.at(-1)?.type}, the row is ${row.status}`)
  return [...faults, ...itemFaults(events, row)]
}

function itemFaults(events: readonly ResponseEvent[], row: ResponseRecord): readonly string[] {
  const faults: string[] = []
  const alive = new Map<number, { text: string; whole: string | null }>()
  const done: number[] = []
  for (const { type, data } of events) {
    const index = data['output_index']
    if (typeof index !== 'number') continue
    if (type === 'response.output_item.added') {
      if (alive.has(index) || done.includes(index)) faults.push(`item ${index} starts twice`)
      alive.set(index, { text: '', whole: null })
      continue
    }
    const entry = alive.get(index)
    if (entry === undefined) {
      faults.push(`${type} of item ${index}, which has not started or is done`)
      continue
    }
    if (type.endsWith('.delta')) entry.text += String(data['delta'])
    const whole = data['text'] ?? data['code'] ?? data['arguments']
    if (type.endsWith('.done') && typeof whole === 'string') entry.whole = whole
    if (type !== 'response.output_item.done') continue
    alive.delete(index)
    done.push(index)
    const { id, type: kind, status } = (data['item'] ?? {}) as Wire
    const kept = row.items[index]
    if (!isDeepStrictEqual([id, kind, status], [kept?.id, kept?.type, kept?.status]))
      faults.push(
        `item ${index} was streamed as ${String(id)} ${String(kind)} ${String(status)}, the row has ${kept?.id} ${kept?.type} ${kept?.status}`,
      )
    if (entry.whole !== null && entry.text !== entry.whole)
      faults.push(`the deltas of item ${index} add up to ${JSON.stringify(entry.text)}`)
  }
  if (alive.size > 0) faults.push(`items ${[...alive.keys()].join()} are never done`)
  if (done.toSorted((a, b) => a - b).join() !== row.items.map((_, index) => index).join()) faults.push(`items ${done.join()} are done`)
  return faults
}
