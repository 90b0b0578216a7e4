import { expect } from 'vitest'
import type { ResponseEvent } from '../../services/core/events.ts'
import { TERMINAL_EVENTS, terminalEventOf, type Response } from '../../services/core/response.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * Checks what every stream of a response keeps to: numbers consecutive from 0, one beginning and one end, every item begun once and done
 * once, no piece of an item outside its life, pieces that come to the whole, and items as the row has them.
 */
export function checkResponseStream(events: readonly ResponseEvent[], row: Response): void {
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i))
  expect(events[0]?.type).toBe('response.created')
  for (const type of ['response.created', 'response.in_progress']) expect(events.filter((event) => event.type === type)).toHaveLength(1)
  expect(events.filter((event) => TERMINAL_EVENTS.includes(event.type)).map((event) => event.type)).toEqual([terminalEventOf(row.status)])
  expect(events.at(-1)?.type).toBe(terminalEventOf(row.status))

  const alive = new Map<number, { text: string; whole: string | null }>()
  const done: number[] = []
  for (const { type, data } of events) {
    const index = data['output_index']
    if (typeof index !== 'number') continue
    const item = data['item'] as Wire | undefined
    if (type === 'response.output_item.added') {
      expect(alive.has(index) || done.includes(index), `item ${index} begins once`).toBe(false)
      alive.set(index, { text: '', whole: null })
      continue
    }
    const entry = alive.get(index)
    expect(entry, `${type} of item ${index} belongs to a living item`).toBeDefined()
    if (entry === undefined) continue
    if (type.endsWith('.delta')) entry.text += String(data['delta'])
    const whole = data['text'] ?? data['code'] ?? data['arguments']
    if (type.endsWith('.done') && typeof whole === 'string') entry.whole = whole
    if (type === 'response.output_item.done') {
      alive.delete(index)
      done.push(index)
      const kept = row.items[index]
      expect(item).toMatchObject({ id: kept?.id, type: kept?.type, status: kept?.status })
      if (entry.whole !== null) expect(entry.text).toBe(entry.whole)
    }
  }
  expect([...alive.keys()], 'items that are never done').toEqual([])
  expect(done.toSorted((a, b) => a - b)).toEqual(row.items.map((_, i) => i))
}
