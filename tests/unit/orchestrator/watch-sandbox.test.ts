import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PROBE_INTERVAL_MS, MISSES, watchSandbox } from '../../../services/workers/run/sandboxes/watch-sandbox.ts'

describe('watchSandbox', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('reports once that a sandbox stopped replying', async () => {
    let silent = 0
    watchSandbox(
      () => Promise.reject(new Error('no answer')),
      () => void silent++,
    )
    await vi.advanceTimersByTimeAsync(PROBE_INTERVAL_MS * MISSES - 1)
    expect(silent).toBe(0)
    await vi.advanceTimersByTimeAsync(PROBE_INTERVAL_MS * 10)
    expect(silent).toBe(1)
  })

  it('reports nothing when the sandbox replies again in time', async () => {
    let probes = 0
    let silent = 0
    const watch = watchSandbox(
      () => (++probes % MISSES === 0 ? Promise.resolve() : Promise.reject(new Error('no answer'))),
      () => void silent++,
    )
    await vi.advanceTimersByTimeAsync(PROBE_INTERVAL_MS * 30)
    expect([probes, silent]).toEqual([30, 0])
    watch.stop()
    await vi.advanceTimersByTimeAsync(PROBE_INTERVAL_MS * 10)
    expect(probes).toBe(30)
  })
})
