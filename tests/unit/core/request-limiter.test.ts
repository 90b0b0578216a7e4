import { expect, it } from 'vitest'
import type { SharedRowStore } from '../../../services/ports/shared-row-store.ts'
import { createRequestLimiter } from '../../../services/operations/tenancy/request-limiter.ts'
import { limitsOf } from '../../../services/model/tenants/tenant-limits.ts'

function setUp(requestsPerSecond: number, processes: number, kind: 'fewProcesses' | 'manyProcesses' = 'fewProcesses') {
  let now = 0
  let calls = 0
  const rows = new Map<string, { readonly window: number; count: number }>()
  const sharedRows: Pick<SharedRowStore, 'count'> = {
    async count(tenant, _, { window, max }) {
      calls++
      let row = rows.get(tenant)
      if (row === undefined || row.window < window) rows.set(tenant, (row = { window, count: 0 }))
      if (row.window !== window || row.count >= max) return false
      row.count++
      return true
    },
  }
  const limits = { of: async () => limitsOf({ requestsPerSecond }) }
  const limiters = Array.from({ length: processes }, () =>
    createRequestLimiter(sharedRows, limits, { clock: { now: () => now }, processes: kind }),
  )
  const burst = async (count: number, tenant = 't') => {
    const results = await Promise.all(Array.from({ length: count }, (_, n) => limiters[n % processes]?.take(tenant)))
    return results.filter((refusal) => refusal === null).length
  }
  return { burst, limiters, wait: (ms: number) => void (now += ms), calls: () => calls }
}

it.for([1, 3])('holds one limit over %i processes', async (processes) => {
  const { burst, wait } = setUp(40, processes)
  let passed = 0
  for (let tick = 0; tick < 100; tick++) {
    passed += await burst(30)
    wait(100)
  }
  // Five windows of two seconds at 40 per second.
  expect(passed).toBe(400)
})

it('loses little of a window where many processes serve one call at a time', async () => {
  const { burst, wait } = setUp(1_000, 350, 'manyProcesses')
  let passed = 0
  for (let tick = 0; tick < 20; tick++) {
    passed += await burst(350)
    wait(100)
  }
  // A window has 2,000 requests. With a share of 250, eight of the processes would have all of them.
  expect(passed).toBeLessThanOrEqual(2_000)
  expect(passed).toBeGreaterThan(1_600)
})

it('asks storage for shares, not for every request, and refuses a flood without storage', async () => {
  const { burst, calls } = setUp(1_000, 1)
  expect(await burst(1_000)).toBe(1_000)
  expect(calls()).toBeLessThanOrEqual(8)
  await burst(2_000)
  const before = calls()
  await burst(5_000)
  expect(calls() - before).toBeLessThanOrEqual(1)
})

it('separates tenants and says when to retry', async () => {
  const { burst, limiters } = setUp(1, 1)
  expect(await burst(5)).toBe(2)
  expect(await limiters[0]?.take('t')).toEqual({ limit: 1, retryAfterSeconds: 2 })
  expect(await burst(2, 'other')).toBe(2)
})

it('lets requests pass while storage fails', async () => {
  const sharedRows: Pick<SharedRowStore, 'count'> = { count: () => Promise.reject(new Error('down')) }
  const limiter = createRequestLimiter(sharedRows, { of: async () => limitsOf({ requestsPerSecond: 1 }) }, { clock: { now: () => 0 } })
  expect(await limiter.take('t')).toBeNull()
  expect(await limiter.take('t')).toBeNull()
})
