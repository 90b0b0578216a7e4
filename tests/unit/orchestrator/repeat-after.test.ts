import { describe, expect, it } from 'vitest'
import { repeatAfterMs } from '../../../services/workers/reconcile/repeat-after.ts'

describe('the next message of a job that waits', () => {
  it.each([
    [0, 10_000],
    [20_001, 10_001],
    [60_001, 30_001],
    [3_600_000, 300_000],
  ])('comes, after it has waited %i ms, in %i ms: a whole number, as the table stores times', (waited, next) => {
    expect(repeatAfterMs(waited)).toBe(next)
  })

  it('is one of few in an hour of backlog', () => {
    let messages = 0
    for (let waited = 10_000; waited < 3_600_000; waited += repeatAfterMs(waited)) messages += 1
    expect(messages).toBeLessThan(25)
  })
})
