import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { watchRow } from '../../../services/jobs/watch-row.ts'
import { waitForRow } from '../../../services/jobs/wait-for-row.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { executionRow } from '../../support/rows.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

describe('watching a row', () => {
  it('reads at once after a signal, and each second without one, until the row satisfies the condition', async () => {
    const signals = createLocalSignals()
    let row = 0
    const seen: (number | null)[] = []
    watchRow({
      subscription: signals.subscribe('execution:1'),
      read: async () => row,
      onRow: (present: number | null) => (seen.push(present), present === 3),
    })
    row = 1
    signals.notify('execution:1')
    await vi.advanceTimersByTimeAsync(0)
    row = 2
    await vi.advanceTimersByTimeAsync(1_000)
    row = 3
    await vi.advanceTimersByTimeAsync(5_000)
    expect(seen).toEqual([1, 2, 3])
  })

  it('reads again after a read or a reaction that failed', async () => {
    let calls = 0
    const watch = watchRow({
      read: async () => (calls += 1),
      onRow: async () => {
        if (calls < 3) throw new Error('It did not get through')
        return true
      },
    })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(calls).toBe(3)
    watch.close()
  })

  it('reads nothing after it was closed', async () => {
    const read = vi.fn(async () => null)
    watchRow({ read, onRow: () => false }).close()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(read).not.toHaveBeenCalled()
  })
})

describe('waiting for a row', () => {
  const running = executionRow({ status: 'running' })
  const ended = executionRow({ ...running, status: 'succeeded' })
  const wait = (signals = createLocalSignals(), read = async () => running, signal = new AbortController().signal) =>
    waitForRow(signals.subscribe('execution:1'), {
      read,
      isDone: ({ status }) => status === 'succeeded',
      first: running,
      now: () => Date.now(),
      deadline: 1_003_000,
      signal,
    })

  it('resolves with the row that a signal brings, without a read', async () => {
    const signals = createLocalSignals()
    const read = vi.fn(async () => running)
    const waiting = wait(signals, read)
    signals.notify('execution:1', ended)
    expect(await waiting).toBe(ended)
    expect(read).not.toHaveBeenCalled()
  })

  it('polls each second, and resolves at the deadline with what was read last', async () => {
    const read = vi.fn(async () => running)
    const waiting = wait(undefined, read)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await waiting).toBe(running)
    expect(read).toHaveBeenCalledTimes(3)
  })
})
