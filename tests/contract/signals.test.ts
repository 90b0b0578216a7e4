import { describe, expect, it } from 'vitest'
import { createLocalSignals } from '../../services/storage/signals/local-signals.ts'
import { createPollingSignals } from '../../services/storage/signals/polling-signals.ts'
import { signalsContract } from './signals.ts'

signalsContract('in one process', createLocalSignals)
signalsContract('polling', createPollingSignals)

const LONG_MS = 30_000
const timed = async (wait: Promise<void>): Promise<number> => {
  const startedAt = performance.now()
  await wait
  return performance.now() - startedAt
}

describe('signals in one process', () => {
  it('wake every waiter of the topic, and no other', async () => {
    const signals = createLocalSignals()
    const mine = [signals.subscribe('a'), signals.subscribe('a')]
    const other = signals.subscribe('b')
    const waits = mine.map((subscription) => timed(subscription.next(LONG_MS)))
    let hasOtherWoken = false
    void other.next(LONG_MS).then(() => (hasOtherWoken = true))
    signals.notify('a')
    for (const wait of waits) expect(await wait).toBeLessThan(1_000)
    expect(hasOtherWoken).toBe(false)
    for (const subscription of [...mine, other]) subscription.close()
  })

  it('remember a notification that came between two waits, and only one', async () => {
    const signals = createLocalSignals()
    const subscription = signals.subscribe('a')
    signals.notify('a')
    signals.notify('a')
    expect(await timed(subscription.next(LONG_MS))).toBeLessThan(1_000)
    expect(await timed(subscription.next(50))).toBeGreaterThanOrEqual(45)
    subscription.close()
  })

  it('do not tell a new waiter of what was before it', async () => {
    const signals = createLocalSignals()
    signals.notify('a')
    const subscription = signals.subscribe('a')
    expect(await timed(subscription.next(50))).toBeGreaterThanOrEqual(45)
    subscription.close()
  })
})

describe('polling', () => {
  it('looks again soon at first, ever later then, and never after more than half a second', async () => {
    const subscription = createPollingSignals().subscribe('a')
    const waits: number[] = []
    for (let turn = 0; turn < 10; turn++) waits.push(await timed(subscription.next(LONG_MS)))
    expect(waits[0]).toBeLessThan(200)
    expect(waits[9]).toBeGreaterThanOrEqual(450)
    expect(waits[9]).toBeLessThan(1_500)
    subscription.close()
  })
})
