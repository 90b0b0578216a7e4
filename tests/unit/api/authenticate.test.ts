import { expect, it } from 'vitest'
import { createAuthenticator } from '../../../services/http/authenticate.ts'
import { apiKeyRow, hashApiKey } from '../../../services/model/tenants/api-keys.ts'
import type { ApiKey } from '../../../services/model/tenants/tenant.ts'

function setUp(cacheMs = 60_000) {
  const keys = new Map<string, ApiKey>()
  let reads = 0
  let touches = 0
  let now = 0
  const authenticate = createAuthenticator(
    {
      tenants: { findKey: async (hash) => (reads++, keys.get(hash) ?? null), touchKey: async () => void touches++ },
      clock: { now: () => now },
    },
    cacheMs,
  )
  return {
    put: (key: string, revokedAt: number | null = null) =>
      keys.set(hashApiKey(key), { ...apiKeyRow(key, { tenant: `tnt_${key}` }, 0), id: `key_${key}`, revokedAt }),
    ask: (key: string) => authenticate(new Request('http://x', { headers: { authorization: `Bearer ${key}` } })),
    wait: (ms: number) => void (now += ms),
    reads: () => reads,
    touches: () => touches,
  }
}

it('reads a key from the table once per minute', async () => {
  const { put, ask, wait, reads } = setUp()
  put('a')
  expect(await ask('a')).toEqual({ tenant: 'tnt_a', subject: null, keyId: 'key_a', scopes: ['run', 'read', 'files', 'share'] })
  await ask('a')
  expect(reads()).toBe(1)
  wait(60_000)
  await ask('a')
  expect(reads()).toBe(2)
})

it('reads a key once for requests at the same time', async () => {
  const { put, ask, reads, touches, wait } = setUp()
  put('a')
  wait(3_600_000)
  await Promise.all(Array.from({ length: 100 }, () => ask('a')))
  expect(reads()).toBe(1)
  expect(touches()).toBe(1)
})

it('accepts a revoked key for at most one minute', async () => {
  const { put, ask, wait } = setUp()
  put('a')
  await ask('a')
  put('a', 1)
  await ask('a')
  wait(60_000)
  await expect(ask('a')).rejects.toMatchObject({ code: 'invalid_api_key' })
})

it('does not cache a missing key', async () => {
  const { put, ask } = setUp()
  await expect(ask('new')).rejects.toMatchObject({ code: 'invalid_api_key' })
  put('new')
  expect((await ask('new')).tenant).toBe('tnt_new')
})

it('caches at most a thousand keys', async () => {
  const { put, ask, reads } = setUp()
  for (let n = 0; n <= 1_000; n++) {
    put(`k${n}`)
    await ask(`k${n}`)
  }
  await ask('k1000')
  expect(reads()).toBe(1_001)
  await ask('k0')
  expect(reads()).toBe(1_002)
})
