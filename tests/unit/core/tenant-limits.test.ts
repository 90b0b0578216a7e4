import { expect, it } from 'vitest'
import { createLimitReader, LIMITS_CACHE_MS } from '../../../services/operations/tenancy/limit-reader.ts'
import type { Tenant } from '../../../services/model/tenants/tenant.ts'
import {
  executionLimitsOf,
  limitsOf,
  NUMERIC_LIMITS,
  sandboxLimitsOf,
  DEFAULT_LIMITS,
  DEFAULT_SANDBOX,
} from '../../../services/model/tenants/tenant-limits.ts'

it('apply the defaults where a policy sets nothing', () => {
  expect(limitsOf(undefined)).toEqual(DEFAULT_LIMITS)
  expect(limitsOf({ processes: 40 })).toEqual({ ...DEFAULT_LIMITS, processes: 40 })
})

it('keep every default within the range that an operator may set', () => {
  for (const [name, range] of Object.entries(NUMERIC_LIMITS))
    expect(range.min <= range.default && range.default <= range.max, name).toBe(true)
})

it('use the warm pool only for sandboxes of the default size', () => {
  expect(sandboxLimitsOf(DEFAULT_LIMITS, null)).toBeNull()
  expect(sandboxLimitsOf(DEFAULT_LIMITS, { cpuSeconds: 5 })).toBeNull()
  expect(sandboxLimitsOf(limitsOf({ diskBytes: 2 ** 31 }), null)).toEqual({ ...DEFAULT_SANDBOX, diskBytes: 2 ** 31 })
  expect(sandboxLimitsOf(DEFAULT_LIMITS, { processes: 64 })).toEqual({ ...DEFAULT_SANDBOX, processes: 64 })
})

it('of a container never exceed those of its tenant, even if lowered later', () => {
  expect(sandboxLimitsOf(limitsOf({ processes: 50 }), { processes: 64 })?.processes).toBe(50)
  expect(executionLimitsOf(limitsOf({ cpuSeconds: 9 }), { cpuSeconds: 60, displays: 3 })).toMatchObject({ cpuSeconds: 9, displays: 3 })
})

const tenant: Tenant = { v: 1, id: 't', name: 't', createdAt: 0, policy: { limits: { displays: 7 } } }

it('are read once per ten seconds', async () => {
  let now = 0
  let reads = 0
  const reader = createLimitReader({ get: async () => (reads++, tenant), getPlan: async () => null }, { now: () => now })
  expect((await reader.of('t')).displays).toBe(7)
  now = LIMITS_CACHE_MS - 1
  expect(await reader.policyOf('t')).toEqual(tenant.policy)
  expect(reads).toBe(1)
  now = LIMITS_CACHE_MS
  await reader.of('t')
  expect(reads).toBe(2)
})

it('are read again after a failed read', async () => {
  let fails = true
  const reader = createLimitReader(
    {
      get: async () => {
        if (fails) throw new Error('no table')
        return tenant
      },
      getPlan: async () => null,
    },
    { now: () => 0 },
  )
  await expect(reader.of('t')).rejects.toThrow('no table')
  fails = false
  expect((await reader.of('t')).displays).toBe(7)
})
