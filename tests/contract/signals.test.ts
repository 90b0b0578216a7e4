import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLocalSignals } from '../../services/adapters/storage/signals/local-signals.ts'
import { createPollingSignals } from '../../services/adapters/storage/signals/polling-signals.ts'
import { executionRow } from '../support/rows.ts'
import { signalsContract } from './signals.ts'

signalsContract('in one process', createLocalSignals)
signalsContract('polling', createPollingSignals)

const LONG_MS = 60_000
/** Far below the maximum wait of a minute, also on a busy machine. */
const LIVELY_MS = 30_000
const timed = async (wait: Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await wait
  return performance.now() - startedAt
}

describe('signals in one process', () => {
  it('wake every waiter of the topic and no other', async () => {
    const signals = createLocalSignals()
    const mine = [signals.subscribe('a'), signals.subscribe('a')]
    const other = signals.subscribe('b')
    const waits = mine.map((subscription) => timed(subscription.next(LONG_MS)))
    let hasOtherWoken = false
    void other.next(LONG_MS).then(() => (hasOtherWoken = true))
    signals.notify('a')
    for (const wait of waits) expect(await wait).toBeLessThan(LIVELY_MS)
    expect(hasOtherWoken).toBe(false)
    for (const subscription of [...mine, other]) subscription.close()
  })

  it('deliver the ended row to waiters and to later callers, once', async () => {
    const signals = createLocalSignals()
    const subscription = signals.subscribe('a')
    const ended = executionRow({ status: 'succeeded' })
    const wait = subscription.next(LONG_MS)
    signals.notify('a', ended)
    expect(await wait).toBe(ended)
    signals.notify('a', ended)
    signals.notify('a')
    expect(await subscription.next(LONG_MS)).toBe(ended)
    signals.notify('a')
    expect(await subscription.next(LONG_MS)).toBeNull()
    subscription.close()
  })

  it('remember exactly one notification between two waits', async () => {
    const signals = createLocalSignals()
    const subscription = signals.subscribe('a')
    signals.notify('a')
    signals.notify('a')
    expect(await timed(subscription.next(LONG_MS))).toBeLessThan(LIVELY_MS)
    expect(await timed(subscription.next(50))).toBeGreaterThanOrEqual(45)
    subscription.close()
  })

  it('do not notify a new waiter of earlier events', async () => {
    const signals = createLocalSignals()
    signals.notify('a')
    const subscription = signals.subscribe('a')
    expect(await timed(subscription.next(50))).toBeGreaterThanOrEqual(45)
    subscription.close()
  })
})

describe('polling', () => {
  afterEach(() => void vi.useRealTimers())

  it('polls with increasing intervals of at most half a second', async () => {
    vi.useFakeTimers()
    const subscription = createPollingSignals().subscribe('a')
    const pauses: number[] = []
    for (let turn = 0; turn < 10; turn++) {
      const startedAt = Date.now()
      const wait = subscription.next(LONG_MS).then(() => pauses.push(Date.now() - startedAt))
      await vi.advanceTimersByTimeAsync(LONG_MS)
      await wait
    }
    expect(pauses[0]).toBe(20)
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
    expect(pauses.at(-1)).toBe(500)
    subscription.close()
  })
})
