import { describe, expect, it } from 'vitest'
import type { Signals } from '../../services/core/ports/signals.ts'

/** Far below the minute that a wait asks for, and far above what a busy machine adds to one that ends by itself, milliseconds. */
const LIVELY_MS = 30_000

/** What every Signals has to do: wake early if it can, never too late. */
export function signalsContract(name: string, create: () => Signals): void {
  const elapsed = async (wait: Promise<unknown>): Promise<number> => {
    const startedAt = performance.now()
    await wait
    return performance.now() - startedAt
  }

  describe(`Signals: ${name}`, () => {
    it('lets a waiter look again after the longest time at the latest', async () => {
      const subscription = create().subscribe('execution:1')
      expect(await elapsed(subscription.next(30))).toBeLessThan(LIVELY_MS)
      expect(await elapsed(subscription.next(0))).toBeLessThan(LIVELY_MS)
      subscription.close()
    })

    it('takes notifications that nobody waits for', () => {
      expect(() => create().notify('execution:1')).not.toThrow()
    })

    it('ends a wait when it is closed', async () => {
      const subscription = create().subscribe('execution:1')
      const wait = elapsed(subscription.next(60_000))
      subscription.close()
      expect(await wait).toBeLessThan(LIVELY_MS)
      expect(await elapsed(subscription.next(60_000))).toBeLessThan(LIVELY_MS)
    })
  })
}
