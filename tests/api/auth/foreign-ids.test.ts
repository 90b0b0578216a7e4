import { afterAll, beforeAll, expect, it } from 'vitest'
import { labelOf as sandboxIdOf } from '../../../services/model/containers/container-label.ts'
import { createLink } from '../../../services/operations/links/create-link.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { BODIES, CHECKED_FORMS, MISSING, PROBE_HEADERS, QUERIES } from '../../support/probe-requests.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
let mine: Record<string, string>
let ann: TestKey
let bob: TestKey
const none: Readonly<Record<string, string>> = { ...MISSING, plan: 'probe-absent' }
const malformed = Object.fromEntries(Object.keys(none).map((name) => [name, CHECKED_FORMS[name] ?? '..%2F..%2Fetc']))

beforeAll(async () => {
  api = await startApi()
  const { tenant } = await api.newKey()
  ann = await api.newKey({ tenant, subject: 'ann' })
  bob = await api.newKey({ tenant, subject: 'bob' })
  const client = api.openai(ann)
  const container = await client.containers.create({ name: 'hers' })
  const file = await client.containers.files.create(container.id, { file: new File(['x'], 'x') })
  const snapshot = (await (await api.post(`/v1/containers/${container.id}/snapshots`, {}, { key: ann })).json()) as { id: string }
  const execution = (await (await api.post(`/v1/containers/${container.id}/executions?wait=0`, { code: 'x' }, { key: ann })).json()) as {
    id: string
  }
  await finishExecution(api, tenant, execution.id)
  const command = (await (await api.post(`/v1/containers/${container.id}/commands?wait=0`, { command: 'x' }, { key: ann })).json()) as {
    id: string
  }
  const sandbox = (await (await api.post('/n8n/sandboxes', {}, { key: ann })).json()) as { id: string }
  await (await api.post(`/n8n/sandboxes/${sandbox.id}/executions`, { command: 'true', exec_id: 'hers' }, { key: ann })).body?.cancel()
  const started = await api.post('/open-webui/execute', { command: 'true' }, { key: ann, headers: PROBE_HEADERS })
  const terminalProcess = (await started.json()) as { id: string }
  const shell = (await (await api.post('/open-webui/api/terminals', {}, { key: ann, headers: PROBE_HEADERS })).json()) as { id: string }
  const response = await client.responses.create({ model: 'demo', input: 'x', background: true })
  const webhook = await client.webhooks.create({ name: 'x', url: 'https://example.com/', event_types: ['response.completed'] })
  const target = { objectKey: 'k', filename: 'f', mime: 'text/plain', bytes: 1 }
  const link = await createLink(
    api.table.links,
    { tenant, containerId: container.id, fileId: null, target, publicUrl: api.url, days: 7 },
    Date.now(),
  )
  const userFile = await client.files.create({ file: new File(['x'], 'x'), purpose: 'user_data' })
  const upload = await client.uploads.create({ filename: 'x', bytes: 1, mime_type: 'text/plain', purpose: 'user_data' })
  const conversation = await client.conversations.create({ items: [{ role: 'user', content: 'x' }], metadata: { of: 'ann' } })
  const [item] = (await client.conversations.items.list(conversation.id)).data
  const share = (await (await api.post(`/v1/conversations/${conversation.id}/shares`, {}, { key: ann })).json()) as { id: string }
  await api.table.tenants.create({ v: 1, id: tenant, name: 'hers', createdAt: Date.now() })
  await api.table.tenants.putPlan({ v: 1, name: 'probe-present', limits: {}, createdAt: Date.now() })
  mine = {
    tenant_id: tenant,
    key_id: ann.keyId,
    job_id: execution.id,
    plan: 'probe-present',
    conversation_id: conversation.id,
    item_id: item?.id ?? '',
    share_id: share.id,
    container_id: container.id,
    snapshot_id: snapshot.id,
    session_id: container.id,
    file_id: file.id,
    execution_id: execution.id,
    command_id: command.id,
    response_id: response.id,
    link_id: link.id,
    webhook_endpoint_id: webhook.id,
    user_file_id: userFile.id,
    upload_id: upload.id,
    sandbox_id: sandboxIdOf({ id: container.id, tenant }),
    sandbox_uuid: sandbox.id,
    exec_id: 'hers',
    port: '8501',
    process_id: terminalProcess.id,
    terminal_id: shell.id,
  }
})
afterAll(() => api.stop())

const routes = ROUTES.filter((route) => /\{(?!token|model|\+)/.test(route.path))

async function probe(route: (typeof routes)[number], ids: Record<string, string>, key: TestKey): Promise<unknown> {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '') + (QUERIES[route.operationId] ?? '')
  const body = BODIES[route.operationId]
  const answer = await api.fetch(path, {
    key,
    method: route.method.toUpperCase(),
    headers: { ...PROBE_HEADERS, ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': 'probe' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const headers = Object.fromEntries(
    [...answer.headers].filter(
      ([name]) => !['date', 'content-length', 'x-request-id', 'traceresponse', 'openai-processing-ms'].includes(name),
    ),
  )
  const text = (await answer.text()).replaceAll(/req_\w+/g, 'REQ')
  return {
    status: answer.status,
    headers,
    text: [...Object.values(mine), ...Object.values(none)]
      .reduce((seen, id) => seen.replaceAll(id, 'ID'), text)
      .replaceAll('../../etc', 'ID'),
  }
}

it.for(routes.map((route) => [route.operationId, route] as const))(
  '%s replies to another tenant as for a missing object',
  async ([, route]) => {
    const missing = (await probe(route, none, api.otherTenant)) as { status: number }
    // A foreign protocol's wire answers 501 where it does not offer the operation.
    // The handshake of a socket whose first message has the key needs an upgrade, whatever it names.
    const expected = route.scope === 'admin' ? [403] : route.isForeign !== true ? [404] : [404, 426, 501]
    expect(expected).toContain(missing.status)
    expect(await probe(route, mine, api.otherTenant)).toEqual(missing)
    expect(await probe(route, malformed, api.otherTenant)).toEqual(missing)
  },
)

it.for(routes.map((route) => [route.operationId, route] as const))(
  '%s answers another end user of the tenant as if nothing were there',
  async ([, route]) => {
    expect(await probe(route, mine, bob)).toEqual(await probe(route, none, bob))
  },
)

it('changes no object of the owner by calls with foreign ids', async () => {
  const client = api.openai(ann)
  const { tenants } = api.table
  expect([await tenants.get(ann.tenant), await tenants.getPlan('probe-present')]).toMatchObject([{ name: 'hers' }, { limits: {} }])
  expect((await tenants.get(ann.tenant))?.deletion).toBeUndefined()
  expect(await client.containers.retrieve(mine['container_id'] ?? '')).toMatchObject({ name: 'hers' })
  expect((await client.containers.files.list(mine['container_id'] ?? '')).data.map((file) => file.id)).toEqual([mine['file_id']])
  expect((await client.responses.retrieve(mine['response_id'] ?? '')).status).toBe('queued')
  expect((await client.conversations.retrieve(mine['conversation_id'] ?? '')).metadata).toEqual({ of: 'ann' })
  expect((await client.conversations.items.list(mine['conversation_id'] ?? '')).data.map(({ id }) => id)).toEqual([mine['item_id']])
  expect((await client.files.retrieve(mine['user_file_id'] ?? '')).filename).toBe('x')
  expect((await api.table.uploads.get(ann.tenant, mine['upload_id'] ?? ''))?.status).toBe('pending')
  expect((await api.table.links.revoke(ann.tenant, mine['link_id'] ?? '', 1))?.revokedAt).toBe(1)
})
