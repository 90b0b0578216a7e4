import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventBatch, EventPayload } from '../../../services/model/events.ts'
import type { ExecutionProgressPayload } from '../../../services/model/executions/events/event-types.ts'
import { mergeDeltas } from '../../../services/workers/turn/turn-log.ts'
import { mergeText } from '../../../services/workers/run/stream/merge-text.ts'
import {
  EventLogConflictError,
  EventLogWriter,
  type EventLogWriterOptions,
  type Numbered,
} from '../../../services/jobs/event-log-writer.ts'

function logOf<P extends EventPayload | ExecutionProgressPayload>(
  options: Omit<EventLogWriterOptions<P>, 'log' | 'fence' | 'now'>,
  append: (batch: EventBatch<Numbered<P>>) => Promise<boolean> = async () => true,
) {
  const batches: EventBatch<Numbered<P>>[] = []
  const faults: unknown[] = []
  let notified = 0
  const writer = new EventLogWriter<P>({
    ...options,
    fence: 3,
    now: () => Date.now(),
    log: {
      append: async (batch) => {
        batches.push(batch)
        return append(batch)
      },
      written: () => void (notified += 1),
      broken: (cause) => void faults.push(cause),
    },
  })
  return { writer, batches, faults, notified: () => notified }
}
const responseLog = (
  append?: (batch: EventBatch<Numbered<EventPayload>>) => Promise<boolean>,
  options: Partial<EventLogWriterOptions<EventPayload>> = {},
) => logOf<EventPayload>({ nextSeq: 5, merge: mergeDeltas, ...options }, append)
const executionLog = (accepts = true) => logOf<ExecutionProgressPayload>({ nextSeq: 1, merge: mergeText }, async () => accepts)

const delta = (text: string, item = 'msg') => ({ type: 'response.output_text.delta', data: { item_id: item, delta: text } })
const stdout = (text: string) => ({ type: 'stdout', cell: 0, text }) as const
const RUNNING = { type: 'status', status: 'running' } as const
const textIn = (batches: readonly EventBatch<Numbered<EventPayload>>[]): string =>
  batches.flatMap((batch) => batch.events.map((event) => event.data['delta'] ?? '')).join('')

/** `done` is no payload of a log. The type checker fails here if a writer accepts it. */
export const refusesDone = ({ writer }: ReturnType<typeof executionLog>): void => {
  // @ts-expect-error Only `endExecution` creates it.
  writer.emit({ type: 'done', status: 'succeeded', reason: null }, 'now')
}

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

describe('numbering', () => {
  it('continues from where the log ends, under the fencing token of its step', async () => {
    const { writer, batches, notified } = responseLog()
    writer.emit({ type: 'a', data: {} }, 'soon')
    writer.emit({ type: 'b', data: {} }, 'soon')
    await writer.drain()
    expect(batches).toMatchObject([
      {
        firstSeq: 5,
        fence: 3,
        events: [
          { seq: 5, at: 1_000_000, type: 'a' },
          { seq: 6, type: 'b' },
        ],
      },
    ])
    expect([writer.nextSeq, writer.writtenSeq, notified()]).toEqual([7, 7, 1])
  })

  it('is consecutive across batches, and each batch names the last source event that it holds', async () => {
    const { writer, batches } = executionLog()
    writer.emit(RUNNING, 'deferred')
    writer.emit(stdout('a'), 'paced', 4)
    await writer.drain()
    writer.emit({ type: 'stderr', cell: 0, text: 'b' }, 'paced', 5)
    writer.emit(stdout('c'), 'paced', 6)
    await writer.drain()
    expect(batches.flatMap((batch) => batch.events.map((event) => event.seq))).toEqual([1, 2, 3, 4])
    expect(batches.map(({ firstSeq, sourceSeq }) => [firstSeq, sourceSeq])).toEqual([
      [1, 4],
      [3, 6],
    ])
  })

  it('starts with the tail of the row, which stays as it is', async () => {
    const kept = { seq: 4, at: 1, ...delta('kept') }
    const { writer, batches } = responseLog(undefined, { tail: [kept] })
    expect(writer.writtenSeq).toBe(4)
    writer.emit(delta('new'), 'paced')
    expect(await writer.copyTail(4_096)).toMatchObject([kept, { seq: 5, data: { delta: 'new' } }])
    writer.emit(delta('newer'), 'paced')
    await writer.drain()
    expect(batches).toMatchObject([{ firstSeq: 4, events: [kept, { seq: 5 }, { seq: 6, data: { delta: 'newer' } }] }])
  })
})

describe('batching', () => {
  it.each([
    ['now', 5],
    ['soon', 30],
    ['paced', 20],
    ['deferred', 250],
  ] as const)('writes a single event of priority %s after %i ms', async (priority, ms) => {
    const { writer, batches } = responseLog()
    writer.emit(delta('a'), priority)
    await vi.advanceTimersByTimeAsync(ms - 1)
    expect(batches).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toHaveLength(1)
  })

  it('writes a stream four times a second', async () => {
    const { writer, batches } = executionLog()
    for (let i = 0; i < 1_000; i++) {
      writer.emit(stdout(`${i}\n`), 'paced', i)
      await vi.advanceTimersByTimeAsync(1)
    }
    expect(batches.length).toBeGreaterThanOrEqual(4)
    expect(batches.length).toBeLessThanOrEqual(5)
  })

  it('writes a deferred event with the first output', async () => {
    const { writer, batches } = executionLog()
    writer.emit(RUNNING, 'deferred')
    writer.emit(stdout('a'), 'paced', 1)
    await vi.advanceTimersByTimeAsync(20)
    expect(batches.map(({ events }) => events.map(({ type }) => type))).toEqual([['status', 'stdout']])
  })

  it('writes events that arrived during a write in the next batch', async () => {
    const gate = Promise.withResolvers<boolean>()
    const { writer, batches } = responseLog(() => gate.promise)
    writer.emit(delta('a'), 'now')
    await vi.advanceTimersByTimeAsync(5)
    writer.emit(delta('b'), 'now')
    await vi.advanceTimersByTimeAsync(5)
    expect(batches).toHaveLength(1)
    gate.resolve(true)
    await vi.advanceTimersByTimeAsync(5)
    expect(textIn(batches)).toBe('ab')
  })

  it('splits what waited during a slow write into batches of at most 192 KiB', async () => {
    const gate = Promise.withResolvers<boolean>()
    const { writer, batches } = responseLog(() => gate.promise)
    writer.emit(delta('a'), 'now')
    await vi.advanceTimersByTimeAsync(5)
    for (let i = 0; i < 20; i++) writer.emit(delta('x'.repeat(50_000)), 'paced')
    gate.resolve(true)
    await writer.drain()
    expect(textIn(batches)).toHaveLength(1_000_001)
    for (const { events } of batches) expect(JSON.stringify(events).length).toBeLessThan(193 * 1024)
  })

  it('joins deltas of one item that wait together, and no others', async () => {
    const { writer, batches } = responseLog()
    for (const payload of [delta('a'), delta('b'), delta('c', 'other'), delta('d')]) writer.emit(payload, 'paced')
    await writer.drain()
    expect(batches[0]?.events.map((event) => event.data['delta'])).toEqual(['ab', 'c', 'd'])
  })
})

describe('the tail for the row', () => {
  it('has the waiting events in order after the log, which are not written there', async () => {
    const { writer, batches } = executionLog()
    writer.emit(stdout('x'), 'paced', 0)
    writer.emit(stdout('y'), 'paced', 1)
    expect(await writer.end(4_096)).toMatchObject({ events: [{ seq: 1, type: 'stdout', text: 'xy' }], nextSeq: 2 })
    await vi.runAllTimersAsync()
    expect(batches).toEqual([])
  })

  it('is written to the log when it is too big for the last write of a row, and nothing follows it', async () => {
    const { writer, batches } = executionLog()
    writer.emit(stdout('x'.repeat(60_000)), 'paced', 0)
    expect(await writer.end(48 * 1024)).toEqual({ events: [], bytes: 0, nextSeq: 2 })
    expect(batches).toMatchObject([{ firstSeq: 1, events: [{ type: 'stdout' }] }])
    writer.emit(stdout('late'), 'now', 1)
    await vi.runAllTimersAsync()
    expect(batches).toHaveLength(1)
  })

  it('has what arrived during the last write of the log', async () => {
    const gate = Promise.withResolvers<boolean>()
    const { writer, batches } = responseLog(() => gate.promise)
    writer.emit(delta('a'), 'now')
    await vi.advanceTimersByTimeAsync(5)
    writer.emit(delta('b'), 'paced')
    const ended = writer.end(4_096)
    gate.resolve(true)
    expect(await ended).toMatchObject({ events: [{ seq: 6, data: { delta: 'b' } }], nextSeq: 7 })
    await vi.runAllTimersAsync()
    expect(textIn(batches)).toBe('a')
  })

  it('is written when it is too big for a row', async () => {
    const { writer, batches } = responseLog()
    writer.emit(delta('x'.repeat(40_000)), 'paced')
    expect(await writer.copyTail(4_096)).toEqual([])
    expect(batches).toHaveLength(1)
  })

  it('counts images, escapes and multi-byte characters by their size in the row', () => {
    const { writer } = executionLog()
    writer.emit(stdout('\u0001'.repeat(1_000)), 'paced', 0)
    writer.emit(stdout('漢'.repeat(1_000)), 'paced', 1)
    const output = { output_type: 'display_data', data: { 'image/png': 'A'.repeat(20_000) }, metadata: {} } as const
    writer.emit({ type: 'output', cell: 0, output }, 'paced', 2)
    expect(writer.waitingBytes).toBeGreaterThan(6_000 + 3_000 + 20_000)
    expect(writer.waitingBytes).toBeLessThan(30_000)
  })
})

describe('a position that another worker wrote', () => {
  it('stops the writer permanently', async () => {
    const { writer, batches, faults, notified } = responseLog(async () => false)
    writer.emit({ type: 'a', data: {} }, 'now')
    await expect(writer.drain()).rejects.toBeInstanceOf(EventLogConflictError)
    writer.emit({ type: 'b', data: {} }, 'now')
    await expect(writer.drain()).rejects.toBeInstanceOf(EventLogConflictError)
    await expect(writer.end(4_096)).rejects.toBeInstanceOf(EventLogConflictError)
    await vi.runAllTimersAsync()
    expect([batches.length, faults.length, notified()]).toEqual([1, 1, 0])
  })
})

it('writes nothing after close', async () => {
  const { writer, batches } = executionLog()
  writer.emit(stdout('x'), 'paced', 0)
  writer.close()
  await vi.runAllTimersAsync()
  expect(batches).toEqual([])
})
