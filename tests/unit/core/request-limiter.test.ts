import { expect, it } from 'vitest'
import type { SharedRowState, SharedRowStore } from '../../../services/ports/shared-row-store.ts'
import { createRequestLimiter, FULL_BUCKET, takeTokens } from '../../../services/operations/tenancy/request-limiter.ts'
import { limitsOf } from '../../../services/model/tenants/tenant-limits.ts'

function setUp(requestsPerSecond: number, processes: number) {
  let now = 0
  let calls = 0
  const rows = new Map<string, { readonly revision: number; readonly values: object }>()
  const sharedRows: SharedRowStore = {
    get: async <Values extends object>(tenant: string) => (
      calls++,
      (rows.get(tenant) ?? { revision: 0, values: null }) as SharedRowState<Values>
    ),
    async replace(tenant, _, { values, ...seen }) {
      calls++
      if ((rows.get(tenant)?.revision ?? 0) !== seen.revision) return false
      rows.set(tenant, { revision: seen.revision + 1, values })
      return true
    },
  }
  const limits = { of: async () => limitsOf({ requestsPerSecond }) }
  const limiters = Array.from({ length: processes }, () => createRequestLimiter(sharedRows, limits, { now: () => now }))
  const burst = async (count: number, tenant = 't') => {
    const results = await Promise.all(Array.from({ length: count }, (_, n) => limiters[n % processes]?.take(tenant)))
    return results.filter((refusal) => refusal === null).length
  }
  return { burst, limiters, wait: (ms: number) => void (now += ms), calls: () => calls }
}

it('fills a bucket with the rate and never above two seconds of it', () => {
  const { bucket } = takeTokens(FULL_BUCKET, { rate: 10, wanted: 20, now: 0 })
  expect(bucket).toEqual({ tokens: 0, at: 0 })
  expect(takeTokens(bucket, { rate: 10, wanted: 5, now: 300 })).toEqual({ taken: 3, bucket: { tokens: 0, at: 300 } })
  expect(takeTokens(bucket, { rate: 10, wanted: 100, now: 60_000 }).taken).toBe(20)
  expect(takeTokens({ tokens: 1, at: 500 }, { rate: 10, wanted: 1, now: 400 })).toEqual({ taken: 1, bucket: { tokens: 0, at: 500 } })
})

it.for([1, 3])('holds one limit over %i processes', async (processes) => {
  const { burst, wait } = setUp(40, processes)
  let passed = 0
  for (let tick = 0; tick < 100; tick++) {
    passed += await burst(30)
    wait(100)
  }
  // Ten seconds at 40 per second and a burst of 80; a process may hold a share of ten.
  expect(passed).toBeLessThanOrEqual(480)
  expect(passed).toBeGreaterThanOrEqual(440)
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
  expect(await limiters[0]?.take('t')).toEqual({ limit: 1, retryAfterSeconds: 1 })
  expect(await burst(2, 'other')).toBe(2)
})

it('lets requests pass while storage fails', async () => {
  const sharedRows: SharedRowStore = { get: () => Promise.reject(new Error('down')), replace: () => Promise.reject(new Error('down')) }
  const limiter = createRequestLimiter(sharedRows, { of: async () => limitsOf({ requestsPerSecond: 1 }) }, { now: () => 0 })
  expect(await limiter.take('t')).toBeNull()
  expect(await limiter.take('t')).toBeNull()
})
