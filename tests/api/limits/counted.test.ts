import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TenantLimits } from '../../../services/model/tenants/tenant-limits.ts'
import { storedBytesOf } from '../../support/full-account.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

async function tenantWith(limits: Partial<TenantLimits>): Promise<TestKey> {
  const key = await api.newKey()
  await api.table.tenants.create({ v: 1, id: key.tenant, name: 'limited', createdAt: Date.now(), policy: { limits } })
  return key
}

it('refuses containers beyond the limit, on every wire, until some are deleted', async () => {
  const key = await tenantWith({ containers: 2 })
  const [first] = await Promise.all(['a', 'b'].map((name) => api.openai(key).containers.create({ name })))
  const refused = await api.post('/v1/containers', { name: 'c' }, { key })
  expect([refused.status, refused.headers.get('x-limit-name'), refused.headers.get('ratelimit-limit')]).toEqual([429, 'containers', '2'])
  const headers = { 'x-api-key': key.key, 'content-type': 'application/json' }
  expect((await fetch(`${api.url}/e2b/v2/sandboxes`, { method: 'POST', headers, body: '{}' })).status).toBe(429)
  expect((await api.post('/librechat/v1/exec', { lang: 'py', code: 'x' }, { key })).status).toBe(429)
  await api.openai(key).containers.delete(first?.id ?? '')
  await expect.poll(async () => (await api.post('/v1/containers', { name: 'c' }, { key })).status).toBe(200)
})

it('refuses input of a command beyond 4 MiB that its program does not read', async () => {
  const { id } = await api.openai().containers.create({ name: 'x' })
  const command = (await (await api.post(`/v1/containers/${id}/commands?wait=0`, { command: 'sleep 9', stdin: 'open' })).json()) as {
    id: string
  }
  const send = () => api.post(`/v1/commands/${command.id}/stdin`, { data: 'x'.repeat(1_000_000) })
  for (let sent = 0; sent < 4; sent++) expect((await send()).status).toBe(202)
  const refused = await send()
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    { error: { code: 'conflict', message: expect.stringContaining('has not read') } },
  ])
  const owner = { kind: 'input', tenant: api.owner.tenant, id: command.id } as const
  // As the worker does when the sandbox has accepted the input.
  await api.table.events.removeBefore(owner, 3)
  expect((await send()).status).toBe(202)
})

it('stores at most the limit and one request, whatever is stored', async () => {
  const limit = 2 ** 20
  const key = await tenantWith({ storageBytes: limit })
  const { id } = await api.openai(key).conversations.create()
  const item = { type: 'message', role: 'user', content: 'x'.repeat(60_000) }
  const add = () => api.post(`/v1/conversations/${id}/items`, { items: [item] }, { key })
  let accepted = 0
  while (accepted < 40 && (await add()).ok) accepted += 1
  expect(accepted).toBeGreaterThanOrEqual(15)
  expect(await storedBytesOf(api, key.tenant)).toBeLessThan(limit + 64 * 1024)
  const code = { code: `x = '${'y'.repeat(190_000)}'` }
  const container = await api
    .openai(key)
    .containers.create({ name: 'x' })
    .catch(() => null)
  if (container !== null) expect((await api.post(`/v1/containers/${container.id}/executions?wait=0`, code, { key })).status).toBe(429)
})
