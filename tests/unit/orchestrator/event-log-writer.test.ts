import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventBatch, ExecutionEvent } from '../../../services/core/events.ts'
import { EventLogWriter } from '../../../services/orchestrator/run/event-log-writer.ts'

function setUp(options: { accepts?: boolean } = {}) {
  const batches: EventBatch<ExecutionEvent>[] = []
  const seen = { written: 0, broken: 0 }
  const log = new EventLogWriter({
    fence: 3,
    nextSeq: 1,
    sourceSeq: null,
    now: () => Date.now(),
    sink: {
      append: async (batch) => {
        batches.push(batch)
        return options.accepts ?? true
      },
      written: () => void seen.written++,
      broken: () => void seen.broken++,
    },
  })
  return { log, batches, seen }
}

describe('EventLogWriter', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
  afterEach(() => void vi.useRealTimers())

  it('writes the first output within 20 ms and later ones together, four times a second', async () => {
    const { log, batches } = setUp()
    for (let i = 0; i < 1_000; i++) {
      log.push({ type: 'stdout', cell: 0, text: `${i}\n` }, i)
      await vi.advanceTimersByTimeAsync(1)
    }
    expect(batches.length).toBeGreaterThanOrEqual(4)
    expect(batches.length).toBeLessThanOrEqual(5)
    expect(batches[0]?.events[0]?.at).toBe(1_000_000)
  })

  it('tells that it runs within 250 ms when nothing is said, and with the first output when something is', async () => {
    const silent = setUp()
    silent.log.push({ type: 'status', status: 'running' })
    await vi.advanceTimersByTimeAsync(200)
    expect(silent.batches).toEqual([])
    await vi.advanceTimersByTimeAsync(50)
    expect(silent.batches.map(({ events }) => events.map(({ type }) => type))).toEqual([['status']])
    const talking = setUp()
    talking.log.push({ type: 'status', status: 'running' })
    talking.log.push({ type: 'stdout', cell: 0, text: 'a' }, 1)
    await vi.advanceTimersByTimeAsync(20)
    expect(talking.batches.map(({ events }) => events.map(({ type }) => type))).toEqual([['status', 'stdout']])
  })

  it('numbers events consecutively across batches and names the last source event', async () => {
    const { log, batches } = setUp()
    log.push({ type: 'status', status: 'running' })
    log.push({ type: 'stdout', cell: 0, text: 'a' }, 4)
    await log.drain()
    log.push({ type: 'stderr', cell: 0, text: 'b' }, 5)
    log.push({ type: 'stdout', cell: 0, text: 'c' }, 6)
    await log.drain()
    expect(batches.flatMap((batch) => batch.events.map((event) => event.seq))).toEqual([1, 2, 3, 4])
    expect(batches.map((batch) => [batch.firstSeq, batch.sourceSeq, batch.fence])).toEqual([
      [1, 4, 3],
      [3, 6, 3],
    ])
  })

  it('hands the rest to the row instead of writing it', async () => {
    const { log, batches } = setUp()
    log.push({ type: 'stdout', cell: 0, text: 'x' }, 0)
    log.push({ type: 'stdout', cell: 0, text: 'y' }, 1)
    const tail = await log.takeTail()
    expect(tail).toMatchObject([{ seq: 1, type: 'stdout', text: 'xy' }])
    await vi.runAllTimersAsync()
    expect(batches).toEqual([])
  })

  it('knows how big the rest would be in the row: pictures, escapes and long characters count whole', () => {
    const { log } = setUp()
    log.push({ type: 'stdout', cell: 0, text: '\u0001'.repeat(1_000) }, 0)
    log.push({ type: 'stdout', cell: 0, text: '漢'.repeat(1_000) }, 1)
    log.push(
      { type: 'output', cell: 0, output: { output_type: 'display_data', data: { 'image/png': 'A'.repeat(20_000) }, metadata: {} } },
      2,
    )
    expect(log.pendingBytes).toBeGreaterThan(6_000 + 3_000 + 20_000)
    expect(log.pendingBytes).toBeLessThan(30_000)
  })

  it('stops for good when another worker wrote the place', async () => {
    const { log, batches, seen } = setUp({ accepts: false })
    log.push({ type: 'stdout', cell: 0, text: 'x' }, 0)
    await log.drain()
    log.push({ type: 'stdout', cell: 0, text: 'y' }, 1)
    await log.drain()
    expect([batches.length, seen.broken, seen.written]).toEqual([1, 1, 0])
  })
})
