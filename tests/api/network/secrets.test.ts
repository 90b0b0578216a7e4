import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { SECRET_BOUNDS, SHARED } from '../../../services/model/network/secret.ts'
import { sweepTenant } from '../../../services/workers/reconcile/sweep-tenant.ts'
import { createRecordingGateway, type RecordingGateway } from '../../support/recording-gateway.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const VALUE = 'sk-the-value-that-no-answer-has'

let api: TestApi
let network: RecordingGateway
beforeAll(async () => {
  network = createRecordingGateway()
  api = await startApi({ network })
})
afterAll(() => api.stop())

const SCOPES = ['run', 'read', 'files', 'secrets'] as const
async function newTenant(subject?: string): Promise<TestKey> {
  const tenant = newId('tenant')
  const policy = { network: { ceiling: { allow: [{ host: '*' }], presets: [] } }, limits: { requestsPerSecond: 10_000 } }
  await api.table.tenants.create({ v: 1, id: tenant, name: tenant, createdAt: Date.now(), policy })
  return api.newKey({ tenant, scopes: SCOPES, ...(subject !== undefined && { subject }) })
}
const send = (method: string, path: string, key: TestKey, body?: unknown) =>
  api.fetch(path, {
    method,
    key,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const store = (name: string, key: TestKey, value = VALUE) => send('PUT', `/v1/secrets/${name}`, key, { value, hosts: ['API.example.com'] })

it('stores, lists, rotates and deletes, and never answers the value', async () => {
  const key = await newTenant()
  const stored = await store('API_KEY', key)
  expect([stored.status, await stored.clone().json()]).toMatchObject([
    200,
    { object: 'secret', name: 'API_KEY', hosts: ['api.example.com'], last_used_at: null },
  ])
  const rotated = await store('API_KEY', key, `${VALUE}-2`)
  const list = await send('GET', '/v1/secrets', key)
  const one = await send('GET', '/v1/secrets/API_KEY', key)
  const texts = await Promise.all([stored, rotated, list, one].map((answer) => answer.text()))
  expect(texts.join()).not.toContain(VALUE)
  expect(JSON.parse(texts[2] ?? '')).toMatchObject({ data: [{ name: 'API_KEY' }] })
  expect((await send('DELETE', '/v1/secrets/API_KEY', key)).status).toBe(200)
  expect((await send('DELETE', '/v1/secrets/API_KEY', key)).status).toBe(404)
  expect(await (await send('GET', '/v1/secrets', key)).json()).toMatchObject({ data: [] })
})

it('needs its own scope', async () => {
  const { tenant } = await newTenant()
  const key = await api.newKey({ tenant, scopes: ['run', 'read', 'files'] })
  for (const answer of [await store('X', key), await send('GET', '/v1/secrets', key), await send('DELETE', '/v1/secrets/X', key)])
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: 'insufficient_scope' } }])
})

it('separates tenants and end users', async () => {
  const key = await newTenant()
  await store('SHARED', key)
  const ann = await api.newKey({ tenant: key.tenant, subject: 'ann', scopes: SCOPES })
  const other = await newTenant()
  for (const one of [ann, other]) {
    expect((await send('GET', '/v1/secrets/SHARED', one)).status).toBe(404)
    expect((await send('DELETE', '/v1/secrets/SHARED', one)).status).toBe(404)
    const made = await send('POST', '/v1/containers', one, {
      name: 'x',
      network: { allow: [{ host: 'api.example.com' }], secrets: ['SHARED'] },
    })
    expect([made.status, await made.json()]).toMatchObject([404, { error: { code: 'secret_not_found', param: 'network' } }])
  }
  // A secret that an end user deletes does not become the tenant's secret of the same name.
  await store('SHARED', ann)
  const made = await send('POST', '/v1/containers', ann, {
    name: 'x',
    network: { allow: [{ host: 'api.example.com' }], secrets: ['SHARED'] },
  })
  expect(made.status).toBe(200)
  await send('DELETE', '/v1/secrets/SHARED', ann)
  expect((await api.table.secrets.list(key.tenant, 'tenant')).map(({ subject }) => subject)).toEqual([null])
})

it.each([
  ['an empty value', { value: '', hosts: ['a.example.com'] }, 'value'],
  ['two lines', { value: 'a\nb', hosts: ['a.example.com'] }, 'value'],
  ['no host', { value: 'a', hosts: [] }, 'hosts'],
  ['an address', { value: 'a', hosts: ['127.0.0.1'] }, 'hosts[0]'],
])('refuses %s', async (_, body, param) => {
  const answer = await send('PUT', '/v1/secrets/X', await newTenant(), body)
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param } }])
})

it('refuses a name that no variable can have', async () => {
  expect((await store('a-b', await newTenant())).status).toBe(400)
})

it('bounds the number of secrets, also of simultaneous calls', async () => {
  const key = await newTenant()
  const names = Array.from({ length: SECRET_BOUNDS.perTenant + 20 }, (_, n) => `S${n}`)
  for (let at = 0; at < names.length; at += 20) await Promise.all(names.slice(at, at + 20).map((name) => store(name, key)))
  expect((await api.table.secrets.list(key.tenant, 'tenant')).length).toBeLessThanOrEqual(SECRET_BOUNDS.perTenant)
  const refused = await store('ONE_MORE', key)
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'limit_exceeded' } }])
  expect((await store('S0', key, 'rotated')).status).toBe(200)
})

it('cannot be opened for another tenant or another name, or after a change', async () => {
  const sealed = await network.cipher.seal(VALUE, 'tnt_a/KEY')
  expect(await network.cipher.open(sealed, 'tnt_a/KEY')).toBe(VALUE)
  expect(await network.cipher.seal(VALUE, 'tnt_a/KEY')).not.toBe(sealed)
  await expect(network.cipher.open(sealed, 'tnt_b/KEY')).rejects.toThrow()
  await expect(network.cipher.open(sealed, 'tnt_a/OTHER')).rejects.toThrow()
  const changed = `${sealed.slice(0, -4)}${sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
  await expect(network.cipher.open(changed, 'tnt_a/KEY')).rejects.toThrow()
})

it('the deletion of a tenant deletes its secrets and those of its containers', async () => {
  const key = await newTenant()
  const other = await newTenant()
  for (const one of [key, other]) await store('API_KEY', one)
  const inline = { name: 'INLINE', hosts: ['b.example.com'], value: VALUE }
  const network = { allow: [{ host: 'b.example.com' }], secrets: ['INLINE'], container_secrets: [inline] }
  const { id } = (await (await send('POST', '/v1/containers', key, { name: 'x', network })).json()) as { id: string }
  const left = async () =>
    (await Promise.all([SHARED, id].map((owner) => api.table.secrets.list(key.tenant, owner)))).flat().map(({ name }) => name)
  expect(await left()).toEqual(['API_KEY', 'INLINE'])
  const admin = await api.newKey({ scopes: ['admin'] })
  expect((await send('DELETE', `/v1/admin/tenants/${key.tenant}`, admin)).status).toBe(202)
  const deps = { table: api.table, objects: api.objects, queue: api.queue, clock: api, telemetry: silentTelemetry }
  // Containers first, then rows, then a search that finds nothing.
  for (let pass = 0; pass < 3; pass++) await sweepTenant(deps, { kind: 'tenant', tenant: key.tenant, id: key.tenant, dueAt: 0 })
  expect(await left()).toEqual([])
  expect(await api.table.secrets.list(other.tenant, SHARED)).toHaveLength(1)
})

it('no row, answer, export, event or log line contains a value', async () => {
  const key = await newTenant()
  const admin = await api.newKey({ scopes: ['admin'] })
  const inline = { name: 'INLINE', hosts: ['b.example.com'], value: `${VALUE}-inline` }
  await store('API_KEY', key)
  const rules = [
    { host: 'api.example.com', inject: [{ header: 'authorization', secret: 'API_KEY', prefix: 'Bearer ' }] },
    { host: 'b.example.com' },
  ]
  const body = { name: 'x', network: { allow: rules, secrets: ['API_KEY', 'INLINE'], container_secrets: [inline] } }
  const made = await send('POST', '/v1/containers', key, body)
  const { id } = (await made.clone().json()) as { id: string }
  const turn = {
    type: 'code_interpreter',
    container: {
      type: 'auto',
      network_policy: {
        type: 'allowlist',
        allowed_domains: ['c.example.com'],
        domain_secrets: [{ domain: 'c.example.com', name: 'TURN', value: `${VALUE}-turn` }],
      },
    },
  }
  const answers = [
    made,
    await send('GET', `/v1/containers/${id}`, key),
    await send('GET', `/v1/containers/${id}/network`, key),
    await send('GET', '/v1/containers', key),
    await send('POST', '/v1/responses', key, { model: 'demo', input: 'x', background: true, tools: [turn] }),
    await send('GET', '/v1/secrets', key),
    await fetch(((await (await api.post(`/v1/admin/tenants/${key.tenant}/export`, {}, { key: admin })).json()) as { url: string }).url),
    await api.fetch(`/v1/admin/tenants/${key.tenant}/audit`, { key: admin }),
  ]
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const rows: unknown[] = []
  for (const owner of ['tenant', id]) rows.push(...(await api.table.secrets.list(key.tenant, owner)))
  expect(rows).toHaveLength(2)
  for await (const row of api.table.tenantRows.export(key.tenant)) rows.push(row)
  const everything = [...texts, JSON.stringify(rows), JSON.stringify(api.events)].join('\n')
  expect(everything).toContain('API_KEY')
  expect(everything).not.toContain(VALUE)
  expect(everything).not.toContain(Buffer.from(VALUE).toString('base64').slice(0, 20))
})
