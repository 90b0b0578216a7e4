import { describe, expect, it } from 'vitest'
import type { Signals } from '../../services/ports/signals.ts'

/** Far below the requested wait of a minute and far above the delay of a busy machine, milliseconds. */
const LIVELY_MS = 30_000

/** The contract of every Signals: wake early if possible, never too late. */
export function signalsContract(name: string, create: () => Signals): void {
  const elapsed = async (wait: Promise<unknown>): Promise<number> => {
    const startedAt = performance.now()
    await wait
    return performance.now() - startedAt
  }

  describe(`Signals: ${name}`, () => {
    it('ends a wait after its maximum time', async () => {
      const subscription = create().subscribe('execution:1')
      expect(await elapsed(subscription.next(30))).toBeLessThan(LIVELY_MS)
      expect(await elapsed(subscription.next(0))).toBeLessThan(LIVELY_MS)
      subscription.close()
    })

    it('accepts notifications without a waiter', () => {
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
