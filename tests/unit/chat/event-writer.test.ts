import { describe, expect, it } from 'vitest'
import type { EventBatch, ResponseEvent } from '../../../services/core/events.ts'
import { EventWriter, EventLogConflictError, type EventWriterOptions } from '../../../services/chat/events/event-writer.ts'

function bench(
  append: (batch: EventBatch<ResponseEvent>) => Promise<boolean> = async () => true,
  options: Partial<EventWriterOptions> = {},
) {
  const batches: EventBatch<ResponseEvent>[] = []
  const faults: unknown[] = []
  let notified = 0
  const writer = new EventWriter({
    log: {
      append: async (batch) => {
        batches.push(batch)
        return append(batch)
      },
      written: () => void (notified += 1),
      broken: (cause) => void faults.push(cause),
    },
    fence: 3,
    nextSeq: 5,
    tail: [],
    now: () => Date.now(),
    ...options,
  })
  return { writer, batches, faults, notified: () => notified }
}

const delta = (text: string, item = 'msg') => ({ type: 'response.output_text.delta', data: { item_id: item, delta: text } })
const textIn = (batches: readonly EventBatch<ResponseEvent>[]): string =>
  batches.flatMap((batch) => batch.events.map((event) => event.data['delta'] ?? '')).join('')

describe('EventWriter', () => {
  it('numbers events from where the log ends, and names its fence', async () => {
    const { writer, batches, notified } = bench()
    writer.emit({ type: 'a', data: {} }, 'soon')
    writer.emit({ type: 'b', data: {} }, 'soon')
    await writer.drain()
    expect(batches).toMatchObject([
      {
        firstSeq: 5,
        fence: 3,
        events: [
          { seq: 5, type: 'a' },
          { seq: 6, type: 'b' },
        ],
      },
    ])
    expect([writer.nextSeq, writer.writtenSeq, notified()]).toEqual([7, 7, 1])
  })

  it('writes by itself, the urgent at once', async () => {
    const { writer, batches } = bench()
    writer.emit(delta('a'), 'now')
    await expect.poll(() => batches.length).toBe(1)
    writer.emit(delta('b'), 'paced')
    await expect.poll(() => textIn(batches)).toBe('ab')
  })

  it('writes what came while a write was under way', async () => {
    const gate = Promise.withResolvers<boolean>()
    const { writer, batches } = bench(() => gate.promise)
    writer.emit(delta('a'), 'now')
    await expect.poll(() => batches.length).toBe(1)
    writer.emit(delta('b'), 'now')
    await new Promise((resolve) => setImmediate(resolve))
    gate.resolve(true)
    await expect.poll(() => textIn(batches)).toBe('ab')
  })

  it('joins deltas of one item that wait together, and no others', async () => {
    const { writer, batches } = bench()
    for (const fact of [delta('a'), delta('b'), delta('c', 'other'), delta('d')]) writer.emit(fact, 'paced')
    await writer.drain()
    expect(batches[0]?.events.map((event) => event.data['delta'])).toEqual(['ab', 'c', 'd'])
  })

  it('makes far fewer writes than deltas', async () => {
    const { writer, batches } = bench()
    writer.emit(delta('0'), 'now')
    for (let i = 1; i < 200; i += 1) {
      writer.emit(delta(String(i)), 'paced')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writer.drain()
    expect(batches.length).toBeLessThanOrEqual(4)
    expect(textIn(batches)).toBe(Array.from({ length: 200 }, (_, i) => i).join(''))
  })

  it('hands out what waits for the row, in order after the log', async () => {
    const { writer, batches } = bench()
    writer.emit({ type: 'a', data: {} }, 'now')
    await writer.drain()
    writer.emit({ type: 'b', data: {} }, 'paced')
    expect(await writer.takeTail()).toMatchObject([{ seq: 6, type: 'b' }])
    expect(batches).toHaveLength(1)
  })

  it('begins with the tail of the row, which stays as it is', async () => {
    const kept = { seq: 4, at: 1, ...delta('kept') }
    const { writer, batches } = bench(undefined, { tail: [kept] })
    expect(writer.writtenSeq).toBe(4)
    writer.emit(delta('new'), 'paced')
    expect(await writer.tail(4_096)).toMatchObject([kept, { seq: 5, data: { delta: 'new' } }])
    writer.emit(delta('newer'), 'paced')
    await writer.drain()
    expect(batches).toMatchObject([{ firstSeq: 4, events: [kept, { seq: 5 }, { seq: 6, data: { delta: 'newer' } }] }])
  })

  it('writes a tail that is too much for a row', async () => {
    const big = bench()
    big.writer.emit(delta('x'.repeat(40_000)), 'paced')
    expect(await big.writer.tail(4_096)).toEqual([])
    expect(big.batches).toHaveLength(1)
  })

  it('stops when somebody else writes the log', async () => {
    const { writer, batches, faults } = bench(async () => false)
    writer.emit({ type: 'a', data: {} }, 'now')
    await expect(writer.drain()).rejects.toBeInstanceOf(EventLogConflictError)
    expect(faults).toHaveLength(1)
    writer.emit({ type: 'b', data: {} }, 'now')
    await expect(writer.takeTail()).rejects.toBeInstanceOf(EventLogConflictError)
    expect(batches).toHaveLength(1)
  })
})
