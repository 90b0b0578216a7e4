import { afterAll, beforeAll, expect, it } from 'vitest'
import { apiKeyRow } from '../../../services/model/tenants/api-keys.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0 } })
})
afterAll(() => api.stop())

it.for([
  {},
  { authorization: '' },
  { authorization: 'Bearer ' },
  { authorization: 'Bearer ck_wrong' },
  { authorization: 'Basic abc' },
  { authorization: `Bearer ${'x'.repeat(5_000)}` },
])('refuses %j', async (headers) => {
  for (const path of ['/v1/containers', '/v1/limits', '/v1/models', '/v1/executions/exec_x']) {
    const answer = await fetch(`${api.url}${path}`, { headers: headers as Record<string, string> })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_api_key', type: 'authentication_error' } })
  }
})

it('refuses a revoked key', async () => {
  const { key, keyId, tenant } = await api.newKey()
  expect((await fetch(`${api.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  await api.table.tenants.putKey({ ...apiKeyRow(key, { tenant }, 1), id: keyId, revokedAt: 2 })
  expect((await fetch(`${api.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(401)
})

it('refuses before it reads the body', async () => {
  expect((await fetch(`${api.url}/v1/containers`, { method: 'POST', body: '{' })).status).toBe(401)
})

it('refuses an expired key at its expiry', async () => {
  const { key } = await api.newKey({ expiresAt: api.now() + 60_000 })
  const call = () => fetch(`${api.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  expect((await call()).status).toBe(200)
  api.skew = 60_000
  expect((await call()).status).toBe(401)
  api.skew = 0
})

it('records when a key was last used', async () => {
  const { key, keyId } = await api.newKey()
  expect((await api.table.tenants.getKey(keyId))?.lastUsedAt).toBeNull()
  const before = api.now()
  await fetch(`${api.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  await expect.poll(async () => (await api.table.tenants.getKey(keyId))?.lastUsedAt).toBeGreaterThanOrEqual(before)
})
