import { setTimeout as pause } from 'node:timers/promises'
import type { Items } from '../../../services/adapters/storage/rows/items.ts'
import { createSandboxStore } from '../../../services/adapters/storage/rows/sandbox-store.ts'

const POLL_MS = 50
const MAX_WAIT_MS = 120_000

/** The warm pool of the server under test, read from its table, because the API does not return it. */
export interface WarmPool {
  /** The ids of warm sandboxes. */
  ready(): Promise<readonly string[]>
  /** Waits until `count` are ready, so that a refill does not affect the next measurement. */
  waitFor(count: number): Promise<readonly string[]>
}

export function createWarmPool(items: Items): WarmPool {
  const sandboxes = createSandboxStore(items)
  const ready = async (): Promise<readonly string[]> => (await sandboxes.ready('1g', 50)).map(({ id }) => id)
  return {
    ready,
    async waitFor(count) {
      const until = performance.now() + MAX_WAIT_MS
      for (;;) {
        const ids = await ready()
        if (ids.length >= count) return ids
        if (performance.now() > until)
          throw new Error(`The pool has ${ids.length} warm sandboxes, not ${count}, after ${MAX_WAIT_MS / 1000} s.`)
        await pause(POLL_MS)
      }
    },
  }
}
