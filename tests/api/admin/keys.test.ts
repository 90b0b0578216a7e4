import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROUTES } from '../../../services/wires/routes.ts'
import { SCOPES } from '../../../services/model/tenants/tenant.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
let admin: TestKey
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0 } })
  admin = await api.newKey({ scopes: ['admin'] })
})
afterAll(() => api.stop())

const send = async (method: string, path: string, body?: unknown, key = admin) => {
  const init = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await api.fetch(path, { method, key, ...init })
  return { status: answer.status, body: (await answer.json()) as Record<string, never> & { readonly id: string; readonly api_key: string } }
}
const call = (key: string, path: string) => fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${key}` } })

it('creates a tenant with limits and changes them', async () => {
  const created = await send('POST', '/v1/admin/tenants', { name: 'Acme', limits: { live_containers: 3, memory_limit: '4g' } })
  expect(created).toMatchObject({
    status: 201,
    body: { object: 'tenant', name: 'Acme', limits: { live_containers: 3, memory_limit: '4g' } },
  })
  const path = `/v1/admin/tenants/${created.body.id}`
  const changed = await send('POST', path, { name: 'Acme Inc', limits: { live_containers: null, timeout_seconds: 60 }, link_days: 2 })
  const expected = { name: 'Acme Inc', limits: { memory_limit: '4g', timeout_seconds: 60 }, link_days: 2, tools_off: [] }
  expect(changed).toMatchObject({ status: 200, body: expected })
  expect((await send('GET', path)).body).toMatchObject(expected)
  expect((await send('POST', path, { limits: { timeout_seconds: 0 } })).status).toBe(400)
  expect((await send('POST', path, { limits: { unknown: 1 } })).status).toBe(400)
  expect((await send('GET', '/v1/admin/tenants?limit=100')).body['data']).toContainEqual(expect.objectContaining({ id: created.body.id }))
})

it('shows what a tenant uses of its limits', async () => {
  const { id } = (await send('POST', '/v1/admin/tenants', { name: 'Used' })).body
  const key = await api.newKey({ tenant: id })
  expect((await api.post('/v1/containers', { name: 'one' }, { key })).status).toBe(200)
  const { limits } = (await send('GET', `/v1/admin/tenants/${id}/limits`)).body
  expect(limits).toMatchObject({
    containers: { used: 1, set_by: 'default' },
    live_containers: { used: 0 },
    dollars_per_day: { used: 0 },
    timeout_seconds: { used: null },
  })
})

it('creates, lists and revokes keys; a revoked key stops working', async () => {
  const { id } = (await send('POST', '/v1/admin/tenants', { name: 'Acme' })).body
  const first = await send('POST', `/v1/admin/tenants/${id}/keys`, { name: 'server', subject: 'ann' })
  const second = await send('POST', `/v1/admin/tenants/${id}/keys`, { scopes: ['read'], expires_at: '2999-01-01T00:00:00.000Z' })
  expect(first).toMatchObject({
    status: 201,
    body: { name: 'server', subject: 'ann', scopes: ['run', 'read', 'files', 'share'], tenant_id: id },
  })
  expect((await call(first.body.api_key, '/v1/models')).status).toBe(200)
  expect((await call(second.body.api_key, '/v1/models')).status).toBe(200)

  expect((await send('POST', `/v1/admin/keys/${first.body.id}/revoke`)).status).toBe(200)
  expect((await call(first.body.api_key, '/v1/models')).status).toBe(401)
  expect((await call(second.body.api_key, '/v1/models')).status).toBe(200)
  const listed = (await send('GET', `/v1/admin/tenants/${id}/keys?order=asc`)).body['data'] as unknown as Record<string, unknown>[]
  expect(listed.map((key) => [key['id'], key['revoked_at'] !== null])).toEqual([
    [first.body.id, true],
    [second.body.id, false],
  ])
  expect(JSON.stringify(listed)).not.toContain(first.body.api_key)
  expect((await send('POST', `/v1/admin/tenants/${id}/keys`, { expires_at: '2001-01-01T00:00:00Z' })).status).toBe(400)
})

it('answers unknown tenants and keys with 404', async () => {
  for (const path of ['/v1/admin/tenants/tnt_01kajv9h2s8p0ww3d4dq4cs1zt', '/v1/admin/tenants/x/keys', '/v1/admin/keys/key_x'])
    expect((await send('GET', path)).status).toBe(404)
})

it('declares a known scope on every route', () => {
  for (const route of ROUTES.filter(({ auth }) => auth !== 'public')) expect(SCOPES, route.operationId).toContain(route.scope)
  const open = ROUTES.filter((route) => route.auth === 'public').map((route) => route.operationId)
  expect(open.toSorted()).toEqual([
    'followLink',
    'getHealth',
    'getLogo',
    'getPluginDocument',
    'getPluginManifest',
    'getReadiness',
    'getSharedConversation',
    'getSharedExecution',
    'librechatHealth',
    'listSharedItems',
    'n8n get /healthz',
    'open-webui get /api/config',
    'open-webui get /api/terminals/{terminal_id}',
    'open-webui get /health',
  ])
  expect(ROUTES.filter((route) => route.path.startsWith('/v1/admin')).every((route) => route.scope === 'admin')).toBe(true)
})

// Foreign protocols have other credentials and another form of errors: tests/api/e2b, tests/api/n8n and tests/api/open-webui have them.
const closed = ROUTES.filter((route) => route.auth !== 'public' && route.isForeign !== true)
it.for(closed.map((route) => [route.operationId, route] as const))('%s refuses a key without its scope', async ([, route]) => {
  const key = await api.newKey({ scopes: SCOPES.filter((scope) => scope !== route.scope) })
  const path = route.path.replaceAll(/\{\w+\}/g, 'x')
  const answer = await api.fetch(path, { method: route.method.toUpperCase(), key })
  expect(answer.status).toBe(403)
  const error = route.path.startsWith('/librechat/') ? 'insufficient_scope' : { code: 'insufficient_scope', type: 'permission_error' }
  expect(await answer.json()).toMatchObject({ error })
})
