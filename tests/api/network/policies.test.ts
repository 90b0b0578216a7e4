import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TenantNetwork } from '../../../services/model/tenants/tenant.ts'
import { newId } from '../../../services/model/ids.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import { findOrCreateSession } from '../../../services/wires/librechat/session.ts'
import { createRecordingGateway, type RecordingGateway } from '../../support/recording-gateway.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

const CEILING: TenantNetwork['ceiling'] = {
  allow: [{ host: '*.example.com' }, { host: 'api.test.org', methods: ['GET'] }],
  presets: ['pypi'],
}

let api: TestApi
let network: RecordingGateway
let admin: TestKey
beforeAll(async () => {
  network = createRecordingGateway()
  api = await startApi({ network })
  admin = await api.newKey({ scopes: ['admin'] })
})
afterAll(() => api.stop())

/** A key of a new tenant with this ceiling, which the operator sets. */
async function keyWith(value: unknown): Promise<TestKey> {
  const id = newId('tenant')
  await api.table.tenants.create({ v: 1, id, name: id, createdAt: Date.now() })
  const answer = await api.post(`/v1/admin/tenants/${id}`, { network: value }, { key: admin })
  expect(answer.status, await answer.clone().text()).toBe(200)
  expect(await answer.json()).toMatchObject({ network: value })
  return api.newKey({ tenant: id })
}
const put = (id: string, body: unknown, key: TestKey) =>
  api.fetch(`/v1/containers/${id}/network`, {
    method: 'PUT',
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const create = async (body: object, key: TestKey) => {
  const answer = await api.post('/v1/containers', { name: 'x', ...body }, { key })
  return {
    status: answer.status,
    body: (await answer.json()) as { id: string; network_policy: object; error: { code: string; param: string } },
  }
}
const policyIn = async (id: string, key: TestKey) => (await api.table.containers.get(key.tenant, id))?.network

/** Gives the container a sandbox, so that a change of its policy reaches the gateway at once. */
async function giveSandbox(id: string, key: TestKey): Promise<void> {
  const sandboxId = newId('sandbox')
  await api.table.sandboxes.create({
    v: 1,
    id: sandboxId,
    state: 'claimed',
    memoryTier: '1g',
    limits: null,
    protocol: 1,
    image: 'x',
    imageName: null,
    address: { kind: 'unix', socketPath: '/nowhere' },
    privateKey: 'private',
    publicKey: 'public',
    claimedBy: { tenant: key.tenant, containerId: id },
    createdAt: Date.now(),
    readyAt: Date.now(),
    answeredAt: null,
    claimedAt: Date.now(),
    dueAt: null,
  })
  await api.table.containers.setSandbox(key.tenant, id, { generation: 0, sandboxId, stateLost: null, dueAt: null })
}

describe('the ceiling', () => {
  it('refuses every host of a tenant without one', async () => {
    const { status, body } = await create({ network: { allow: [{ host: 'a.example.com' }] } }, api.owner)
    expect([status, body.error]).toMatchObject([400, { code: 'network_not_allowed', param: 'network' }])
  })

  it('contains the policies of its tenant, with the names that are outside in the refusal', async () => {
    const key = await keyWith({ ceiling: CEILING })
    const outside = await create({ network: { allow: [{ host: 'a.example.com' }, { host: 'evil.org' }] } }, key)
    expect(JSON.stringify(outside.body)).toContain('does not allow evil.org')
    const { status, body } = await create({ network: { allow: [{ host: 'A.Example.com' }], presets: ['pypi'] } }, key)
    expect(status).toBe(200)
    expect(body.network_policy).toEqual({ type: 'allowlist', allowed_domains: ['a.example.com', 'pypi.org', 'files.pythonhosted.org'] })
  })

  it('reaches the gateway beside the policy, so that a lowered one binds existing containers', async () => {
    const key = await keyWith({ ceiling: CEILING })
    const { id } = (await create({}, key)).body
    await giveSandbox(id, key)
    expect((await put(id, { allow: [{ host: 'api.test.org' }] }, key)).status).toBe(200)
    expect(network.attached.get(id)).toMatchObject({
      rules: [{ host: 'api.test.org' }],
      ceiling: expect.arrayContaining([{ host: 'api.test.org', methods: ['GET'] }]),
    })
  })

  it('refuses a default outside of it and one with secrets', async () => {
    for (const policy of [{ allow: [{ host: 'evil.org' }] }, { allow: [{ host: 'a.example.com' }], secrets: ['KEY'] }]) {
      const answer = await api.post('/v1/admin/tenants', { name: 'x', network: { ceiling: CEILING, default: policy } }, { key: admin })
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: 'network.default' } }])
    }
  })
})

describe('the policy of a container', () => {
  it('changes while the container lives, and ends with the empty one', async () => {
    const key = await keyWith({ ceiling: CEILING })
    const { id } = (await create({}, key)).body
    await giveSandbox(id, key)
    const rule = { host: 'a.example.com', methods: ['GET'], paths: ['/v1/**'] }
    const set = await put(id, { allow: [rule], presets: ['pypi'], bytes: 1000 }, key)
    expect(await set.json()).toMatchObject({ allow: [rule], presets: ['pypi'], bytes: 1000, used_bytes: 0, is_enabled: true })
    expect(network.attached.get(id)).toMatchObject({
      tenant: key.tenant,
      bytesLeft: 1000,
      limits: { connections: 100, requestsPerSecond: 100 },
    })
    expect(await (await api.fetch(`/v1/containers/${id}/network`, { key })).json()).toMatchObject({
      hosts: ['a.example.com', 'pypi.org', 'files.pythonhosted.org'],
    })
    expect((await put(id, {}, key)).status).toBe(200)
    expect(network.attached.has(id)).toBe(false)
    expect(await (await api.fetch(`/v1/containers/${id}`, { key })).json()).toMatchObject({ network_policy: { type: 'disabled' } })
  })

  it.each([
    [{ allow: [{ host: '169.254.169.254' }] }, 'allow[0].host'],
    [{ allow: [{ host: 'localhost' }] }, 'allow[0].host'],
    [{ presets: ['all'] }, 'presets[0]'],
    [{ allow: [{ host: 'a.example.com', inject: [{ header: 'host', secret: 'X' }] }] }, 'allow[0].inject[0].header'],
    [{ everything: true }, 'everything'],
  ])('refuses %j', async (body, param) => {
    const key = await keyWith({ ceiling: CEILING })
    const { id } = (await create({}, key)).body
    const answer = await put(id, body, key)
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_request', param } }])
    expect(await policyIn(id, key)).toBeUndefined()
  })

  it('counts the bytes of the tenant of today', async () => {
    const key = await keyWith({ ceiling: CEILING })
    const { id } = (await create({ network: { allow: [{ host: 'a.example.com' }] } }, key)).body
    await giveSandbox(id, key)
    network.bytesToday = 10 * 1024 ** 3 - 7
    await put(id, { allow: [{ host: 'a.example.com' }] }, key)
    network.bytesToday = 0
    expect(network.attached.get(id)?.bytesLeft).toBe(7)
  })
})

it('a server without a gateway refuses every policy but the empty one and says how to change that', async () => {
  const off = await startApi()
  try {
    const { id } = await off.openai().containers.create({ name: 'x', network_policy: { type: 'disabled' } })
    const answer = await off.fetch(`/v1/containers/${id}/network`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"presets":["pypi"]}',
    })
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'unsupported_value', message: expect.stringContaining('CELLBLOCK_NETWORK=on') } },
    ])
    const empty = await off.fetch(`/v1/containers/${id}/network`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(await empty.json()).toMatchObject({ hosts: [], is_enabled: false })
  } finally {
    await off.stop()
  }
})

describe("OpenAI's wire", () => {
  const secret = { domain: 'api.example.com', name: 'API_KEY', value: 'sk-of-openais-wire' }

  it('takes allowed domains and domain secrets, and answers without the values', async () => {
    const key = await keyWith({ ceiling: CEILING })
    const client = api.openai(key)
    const made = await client.containers.create({
      name: 'x',
      network_policy: { type: 'allowlist', allowed_domains: ['api.example.com'], domain_secrets: [secret] },
    })
    expect(made.network_policy).toEqual({ type: 'allowlist', allowed_domains: ['api.example.com'] })
    expect(await client.containers.retrieve(made.id)).toEqual(made)
    await giveSandbox(made.id, key)
    const { environment } = (await (await api.fetch(`/v1/containers/${made.id}/network`, { key })).json()) as {
      environment: Record<string, string>
    }
    expect(environment['API_KEY']).toMatch(/^cellblock-secret-API_KEY-[0-9a-f]{16}$/)
  })

  it.each([
    ['a domain outside the ceiling', { allowed_domains: ['evil.org'] }, 'network_not_allowed'],
    ['no domain', { allowed_domains: [] }, 'invalid_request'],
    ['an address', { allowed_domains: ['10.0.0.1'] }, 'invalid_request'],
    ['a secret for another domain', { allowed_domains: ['a.example.com'], domain_secrets: [secret] }, 'invalid_request'],
    ['two secrets of one name', { allowed_domains: ['api.example.com'], domain_secrets: [secret, secret] }, 'invalid_request'],
    [
      'a value with a line break',
      { allowed_domains: ['api.example.com'], domain_secrets: [{ ...secret, value: 'a\r\nx: y' }] },
      'invalid_request',
    ],
    [
      'a long value',
      { allowed_domains: ['api.example.com'], domain_secrets: [{ ...secret, value: 'a'.repeat(10_000) }] },
      'limit_exceeded',
    ],
  ])('refuses %s', async (_, fields, code) => {
    const key = await keyWith({ ceiling: CEILING })
    const { status, body } = await create({ network_policy: { type: 'allowlist', ...fields } }, key)
    expect([status, body.error.code]).toEqual([400, code])
    expect(JSON.stringify(body)).not.toContain(secret.value)
    const turn = await api.post(
      '/v1/responses',
      {
        model: 'demo',
        input: 'x',
        tools: [{ type: 'code_interpreter', container: { type: 'auto', network_policy: { type: 'allowlist', ...fields } } }],
      },
      { key },
    )
    expect([turn.status, await turn.json()]).toMatchObject([400, { error: { code } }])
  })

  it('keeps the values of a turn out of its row and its answer', async () => {
    const key = await keyWith({ ceiling: CEILING })
    const policy = { type: 'allowlist', allowed_domains: ['api.example.com'], domain_secrets: [secret] }
    for (const tool of [
      { type: 'code_interpreter', container: { type: 'auto', network_policy: policy } },
      { type: 'shell', environment: { type: 'container_auto', network_policy: policy } },
    ]) {
      const answer = await api.post('/v1/responses', { model: 'demo', input: 'x', background: true, tools: [tool] }, { key })
      const { id } = (await answer.clone().json()) as { id: string }
      const row = await api.table.responses.get(key.tenant, id)
      expect(row?.request.interpreter?.network).toEqual({ allow: [{ host: 'api.example.com' }], presets: [], secrets: ['API_KEY'] })
      expect((await answer.text()) + JSON.stringify(row)).not.toContain(secret.value)
      expect(await api.table.secrets.list(key.tenant, id)).toMatchObject([{ name: 'API_KEY', hosts: ['api.example.com'] }])
    }
  })
})

describe("E2B's wire", () => {
  const control = (method: string, path: string, key: TestKey, body?: unknown) =>
    api.fetch(`/e2b${path}`, {
      method,
      key: null,
      headers: { 'x-api-key': key.key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const make = async (body: unknown, key: TestKey) => {
    const answer = await control('POST', '/sandboxes', key, body)
    const { sandboxID } = (await answer.clone().json()) as { sandboxID: string }
    return { answer, sandboxID }
  }
  const infoOf = async (id: string, key: TestKey) => (await control('GET', `/sandboxes/${id}`, key)).json()
  const containerOf = async (key: TestKey) =>
    (await api.table.containers.list(key.tenant, { after: null, limit: 1, order: 'desc', name: null })).rows[0]

  it('takes allowOut with header rules, and hides the values', async () => {
    const key = await keyWith({ ceiling: CEILING })
    const { answer, sandboxID } = await make(
      {
        network: {
          allowOut: ['api.example.com', '*.example.com'],
          denyOut: ['0.0.0.0/0'],
          rules: { 'api.example.com': [{ transform: { headers: { Authorization: 'Bearer of-e2bs-wire' } } }] },
        },
      },
      key,
    )
    expect(answer.status, await answer.text()).toBe(201)
    const container = await containerOf(key)
    expect(container?.network?.allow).toEqual([
      { host: 'api.example.com', inject: [{ header: 'authorization', secret: 'HEADER_1' }] },
      { host: 'api.example.com' },
      { host: '*.example.com' },
    ])
    await giveSandbox(container?.id ?? '', key)
    expect(
      (
        await control('PUT', `/sandboxes/${sandboxID}/network`, key, {
          allowOut: ['b.example.com'],
          rules: { 'b.example.com': [{ transform: { headers: { 'X-Key': 'second-value' } } }] },
        })
      ).status,
    ).toBe(204)
    expect(network.attached.get(container?.id ?? '')).toMatchObject({
      rules: [{ host: 'b.example.com', inject: [{ header: 'x-key' }] }, { host: 'b.example.com' }],
      secrets: [{ hosts: ['b.example.com'], value: 'second-value' }],
    })
    const info = JSON.stringify(await infoOf(sandboxID, key))
    expect(info).toContain('"allowOut":["b.example.com"]')
    expect(info).not.toMatch(/of-e2bs-wire|second-value/)
  })

  it('takes addresses in allowOut and denyOut, of which allowOut applies first', async () => {
    const everything = await keyWith({ ceiling: { allow: [{ host: '*' }], presets: [] } })
    const policyFor = async (rules: unknown, key = everything) => {
      const { answer, sandboxID } = await make({ network: rules }, key)
      expect(answer.status, await answer.text()).toBe(201)
      return { sandboxID, policy: (await containerOf(key))?.network }
    }
    const all = '0.0.0.0/0'
    const listed = { allow: [{ host: '1.1.1.1' }, { host: '8.8.8.8' }], presets: [] }
    expect((await policyFor({ allowOut: ['1.1.1.1', '8.8.8.8'], denyOut: [all] })).policy).toEqual(listed)
    expect((await policyFor({ allowOut: ['1.1.1.1', '8.8.8.8'], denyOut: ['8.8.8.8'] })).policy).toEqual(listed)
    expect((await policyFor({ denyOut: [all, '8.8.8.8'] })).policy).toBeUndefined()
    const { sandboxID, policy } = await policyFor({ denyOut: ['8.8.8.8/32', '9.9.0.0/16'] })
    expect(policy).toEqual({ allow: [{ host: '*' }], presets: [], deny: ['8.8.8.8', '9.9.0.0/16'] })
    expect(await infoOf(sandboxID, everything)).toMatchObject({ network: { allowOut: ['*'], denyOut: ['8.8.8.8', '9.9.0.0/16'] } })
    const container = await containerOf(everything)
    await giveSandbox(container?.id ?? '', everything)
    const update = async (rules: unknown) => (await control('PUT', `/sandboxes/${sandboxID}/network`, everything, rules)).status
    expect(await update({ denyOut: ['1.1.1.1'] })).toBe(204)
    expect(network.attached.get(container?.id ?? '')).toMatchObject({ rules: [{ host: '*' }], deny: ['1.1.1.1'] })
    expect(await update({})).toBe(204)
    expect(network.attached.get(container?.id ?? '')).toMatchObject({ rules: [{ host: '*' }], deny: [] })
    const some = await keyWith({ ceiling: CEILING, default: { allow: [{ host: 'a.example.com' }], presets: [], deny: ['7.7.7.7'] } })
    expect((await policyFor({ denyOut: ['8.8.8.8'] }, some)).policy).toMatchObject({
      allow: [{ host: 'a.example.com' }],
      deny: ['7.7.7.7', '8.8.8.8'],
    })
  })

  it('opens the internet only where the ceiling allows every host', async () => {
    const everything = await keyWith({ ceiling: { allow: [{ host: '*' }], presets: [] } })
    const open = await make({ allow_internet_access: true }, everything)
    expect(await infoOf(open.sandboxID, everything)).toMatchObject({ allowInternetAccess: true, network: { allowOut: ['*'] } })
    const closed = await make({ allow_internet_access: false }, everything)
    expect(await infoOf(closed.sandboxID, everything)).toMatchObject({ allowInternetAccess: false })
    const some = await keyWith({ ceiling: CEILING, default: { allow: [{ host: 'a.example.com' }], presets: [] } })
    const given = await make({ allow_internet_access: true }, some)
    expect(await infoOf(given.sandboxID, some)).toMatchObject({ network: { allowOut: ['a.example.com'] } })
    const none = await make({ allow_internet_access: true }, api.owner)
    expect(await infoOf(none.sandboxID, api.owner)).toMatchObject({ allowInternetAccess: false })
  })

  it.each([
    [{ allowOut: ['8.8.8.8'] }, 400],
    [{ allowOut: ['10.0.0.1'] }, 501],
    [{ allowOut: ['8.8.8.0/24'] }, 501],
    [{ allowOut: ['a.example.com'], denyOut: ['2001:db8::/32'] }, 501],
    [{ denyOut: ['evil.org'] }, 501],
    [{ denyOut: Array.from({ length: 101 }, (_, n) => `8.8.8.${n}`) }, 400],
    [{ allowOut: Array.from({ length: 400 }, (_, n) => `a${n}.${'long'.repeat(8)}.example.com`) }, 400],
    [{ allowOut: ['evil.org'] }, 400],
    [{ egressProxy: { address: 'x' } }, 501],
  ])('refuses %j', async (rules, status) => {
    const key = await keyWith({ ceiling: CEILING })
    const { answer } = await make({ network: rules }, key)
    expect([answer.status, await answer.json()]).toMatchObject([status, { code: status }])
  })
})

it('wires without policies use the default of the tenant, and so do containers for which none is requested', async () => {
  const policy = { allow: [{ host: 'a.example.com' }], presets: [] }
  const key = await keyWith({ ceiling: CEILING, default: policy })
  const caller = { tenant: key.tenant, subject: null, keyId: key.keyId, scopes: ['run'] as const }
  const deps = {
    table: api.table,
    objects: api.objects,
    clock: api,
    network: network.portsOf(api.table, api),
    limits: createLimitReader(api.table.tenants, api),
  }
  await findOrCreateSession({ deps, caller }, undefined)
  await api.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'create_container', arguments: {} } },
    { key, headers: { accept: 'application/json, text/event-stream' } },
  )
  await create({}, key)
  const { rows } = await api.table.containers.list(key.tenant, { after: null, limit: 10, order: 'asc', name: null })
  expect(rows.length).toBe(3)
  for (const row of rows) expect(row.network, row.name).toEqual(policy)
  const { id } = (await create({ network_policy: { type: 'disabled' } }, key)).body
  expect(await policyIn(id, key)).toBeUndefined()
})
