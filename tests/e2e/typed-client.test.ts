import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Cellblock, CellblockError, type ServerEvent } from '../../packages/client/src/index.ts'
import { createAdminKey } from '../support/create-tenant.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { manifest, zipOf } from '../support/skill-files.ts'

const HOST = '127.0.0.1'
let server: LocalServerProcess
let client: Cellblock
const called = new Set<string>()
const receiver = createServer((request, response) => void request.resume().once('end', () => response.writeHead(204).end()))

beforeAll(async () => {
  receiver.listen(0, HOST)
  await once(receiver, 'listening')
  server = await startServer({ env: { CELLBLOCK_POOL: '1', CELLBLOCK_WEBHOOK_HOSTS: HOST } })
  client = new Cellblock({ baseUrl: server.url, apiKey: await createAdminKey(server) })
  const call = client.call.bind(client) as (...args: readonly unknown[]) => unknown
  client.call = ((name: string, ...rest: readonly unknown[]) => {
    called.add(name)
    return call(name, ...rest)
  }) as Cellblock['call']
})
afterAll(async () => {
  await server.stop()
  receiver.close()
})

async function namesOf(events: AsyncIterable<ServerEvent>): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { event } of events) names.push(event)
  return names
}
async function all<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const found: Value[] = []
  for await (const value of values) found.push(value)
  return found
}
const newContainer = async () => ({ container_id: (await client.call('POST /v1/containers', { body: { name: 'typed' } })).id })

it('takes turns, whole, as a stream and in a conversation', async () => {
  const conversation = await client.call('POST /v1/conversations', { body: { items: [{ role: 'user', content: 'Hello' }] } })
  const params = { conversation_id: conversation.id }
  const body = {
    model: 'demo',
    input: '```python\nprint(6 * 7)\n```',
    include: ['code_interpreter_call.outputs'],
    conversation: conversation.id,
  }
  const response = await client.call('POST /v1/responses', {
    body: { ...body, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
  })
  expect(response.output.flatMap((item) => (item.type === 'code_interpreter_call' ? (item.outputs ?? []) : []))).toContainEqual({
    type: 'logs',
    logs: '42',
  })
  const events = await client.call('POST /v1/responses', { body: { model: 'demo', input: 'Hello', stream: true } })
  expect((await namesOf(events)).at(-1)).toBe('response.completed')
  const again = await client.call('GET /v1/responses/{response_id}', { params: { response_id: response.id }, query: { stream: 'true' } })
  expect((await namesOf(again)).at(-1)).toBe('response.completed')
  expect((await client.call('GET /v1/responses/{response_id}', { params: { response_id: response.id } })).status).toBe('completed')

  await client.call('POST /v1/conversations/{conversation_id}/items', { params, body: { items: [{ role: 'user', content: 'More' }] } })
  const { data } = await client.call('GET /v1/conversations/{conversation_id}/items', { params, query: { order: 'asc' } })
  expect(data.flatMap((item) => (item.type === 'message' ? item.content.map(({ text }) => text) : []))).toContain('More')
  const item = { ...params, item_id: data[0]?.id ?? '' }
  expect((await client.call('GET /v1/conversations/{conversation_id}/items/{item_id}', { params: item })).type).toBe('message')
  await client.call('DELETE /v1/conversations/{conversation_id}/items/{item_id}', { params: item })
  await client.call('POST /v1/conversations/{conversation_id}', { params, body: { metadata: { topic: 'typed' } } })
  expect((await client.call('GET /v1/conversations/{conversation_id}', { params })).metadata).toEqual({ topic: 'typed' })
  expect((await client.call('GET /v1/conversations')).data.map(({ id }) => id)).toEqual([conversation.id])
  expect((await client.call('GET /v1/conversations/{conversation_id}/notebook.ipynb', { params }))['nbformat']).toBe(4)
  expect((await client.call('DELETE /v1/conversations/{conversation_id}', { params })).deleted).toBe(true)

  const ofResponse = { params: { response_id: response.id } }
  expect((await client.call('GET /v1/responses/{response_id}/input_items', ofResponse)).data).toHaveLength(1)
  expect((await client.call('GET /v1/responses/{response_id}/notebook.ipynb', ofResponse))['nbformat']).toBe(4)
  await expect(client.call('POST /v1/responses/{response_id}/cancel', ofResponse)).rejects.toBeInstanceOf(CellblockError)
  await client.call('DELETE /v1/responses/{response_id}', ofResponse)
  const tokens = await client.call('POST /v1/responses/input_tokens', { body: { model: 'demo', input: 'Hello' } })
  expect(tokens.input_tokens).toBeGreaterThan(0)
  const compacted = await client.call('POST /v1/responses/compact', { body: { model: 'demo', input: 'Hello' } })
  expect(compacted.output.at(-1)?.type).toBe('compaction')
  const completion = await client.call('POST /v1/chat/completions', {
    body: { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] },
  })
  expect(completion.choices[0]?.finish_reason).toBe('stop')
})

it('works with containers, their files and folders', async () => {
  const params = await newContainer()
  expect((await client.call('GET /v1/containers')).data).toContainEqual(expect.objectContaining({ id: params.container_id }))
  expect((await client.call('GET /v1/containers/{container_id}', { params })).name).toBe('typed')
  const form = new FormData()
  form.set('file', new Blob([Uint8Array.from(zipOf({ 'a.csv': 'x,y\n1,2\n' }))]), 'data.zip')
  const file = await client.call('POST /v1/containers/{container_id}/files', { params, body: form })
  const named = { ...params, file_id: file.id }
  expect((await client.call('GET /v1/containers/{container_id}/files', { params })).data).toHaveLength(1)
  expect((await client.call('GET /v1/containers/{container_id}/files/{file_id}', { params: named })).path).toBe('/mnt/data/data.zip')
  expect((await client.download(params.container_id, file.id)).size).toBe(file.bytes)

  const upload = await client.call('POST /v1/containers/{container_id}/files/upload_url', { params, body: { path: 'b.txt', bytes: 1 } })
  await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'b' })
  await client.call('POST /v1/containers/{container_id}/files/{file_id}/complete', { params: { ...params, file_id: upload.id } })

  const unpacked = await client.call('POST /v1/containers/{container_id}/entries/unpack', {
    params,
    body: { path: 'data.zip', into: 'in' },
  })
  expect(unpacked.files).toBe(1)
  await client.call('POST /v1/containers/{container_id}/entries', { params, body: { path: 'made' } })
  const moved = await client.call('POST /v1/containers/{container_id}/entries/move', {
    params,
    body: { from: 'in/a.csv', to: 'made/a.csv' },
  })
  expect(moved.path).toBe('/mnt/data/made/a.csv')
  const at = { path: 'made/a.csv' }
  expect((await client.call('GET /v1/containers/{container_id}/entries/info', { params, query: at })).bytes).toBe(8)
  expect((await client.call('GET /v1/containers/{container_id}/entries/range', { params, query: { ...at, length: 3 } })).data).toBe(
    btoa('x,y'),
  )
  expect((await client.call('GET /v1/containers/{container_id}/entries/preview', { params, query: at })).kind).toBe('table')
  expect((await client.call('GET /v1/containers/{container_id}/entries', { params, query: { path: 'made' } })).data).toHaveLength(1)
  await client.call('DELETE /v1/containers/{container_id}/entries', { params, query: { path: 'made', recursive: true } })

  await client.call('GET /v1/containers/{container_id}/files/{file_id}/links', { params: named })
  await client.call('DELETE /v1/containers/{container_id}/files/{file_id}/links', { params: named })
  await client.call('DELETE /v1/containers/{container_id}/files/{file_id}', { params: named })
  await expect(client.call('DELETE /v1/links/{link_id}', { params: { link_id: 'link_none' } })).rejects.toMatchObject({ status: 404 })
  expect((await client.call('DELETE /v1/containers/{container_id}', { params })).deleted).toBe(true)
})

it('works with files, uploads and skills', async () => {
  const form = new FormData()
  form.set('file', new Blob(['a']), 'a.txt')
  form.set('purpose', 'user_data')
  const file = { user_file_id: (await client.call('POST /v1/files', { body: form })).id }
  expect((await client.call('GET /v1/files', { query: { limit: 1 } })).data[0]?.id).toBe(file.user_file_id)
  expect((await client.call('GET /v1/files/{user_file_id}', { params: file })).filename).toBe('a.txt')
  expect(await (await client.call('GET /v1/files/{user_file_id}/content', { params: file })).text()).toBe('a')
  expect((await client.call('DELETE /v1/files/{user_file_id}', { params: file })).deleted).toBe(true)
  expect((await client.upload(new Blob(['abc']), { filename: 'b.txt' })).bytes).toBe(3)
  const upload = await client.call('POST /v1/uploads', {
    body: { filename: 'c.txt', bytes: 1, purpose: 'user_data', mime_type: 'text/plain' },
  })
  expect((await client.call('POST /v1/uploads/{upload_id}/cancel', { params: { upload_id: upload.id } })).status).toBe('cancelled')

  const archive = new FormData()
  archive.set('files[]', new Blob([Uint8Array.from(zipOf({ 'SKILL.md': manifest() }))]), 'skill.zip')
  const skill = { skill_id: (await client.call('POST /v1/skills', { body: archive })).id }
  expect((await client.call('GET /v1/skills')).data).toHaveLength(1)
  expect((await client.call('GET /v1/skills/{skill_id}', { params: skill })).latest_version).toBe('1')
  expect((await client.call('POST /v1/skills/{skill_id}/versions', { params: skill, body: archive })).version).toBe('2')
  expect((await client.call('GET /v1/skills/{skill_id}/versions', { params: skill })).data).toHaveLength(2)
  await client.call('POST /v1/skills/{skill_id}', { params: skill, body: { default_version: '2' } })
  const first = { ...skill, version: '1' }
  expect((await client.call('GET /v1/skills/{skill_id}/versions/{version}', { params: first })).version).toBe('1')
  expect((await client.call('GET /v1/skills/{skill_id}/versions/{version}/content', { params: first })).type).toBe('application/zip')
  expect((await client.call('GET /v1/skills/{skill_id}/content', { params: skill })).size).toBeGreaterThan(0)
  expect((await client.call('DELETE /v1/skills/{skill_id}/versions/{version}', { params: first })).deleted).toBe(true)
  expect((await client.call('DELETE /v1/skills/{skill_id}', { params: skill })).deleted).toBe(true)
})

it('runs code and commands, and follows their events', async () => {
  const params = await newContainer()
  const code = "from IPython.display import HTML, display\ndisplay(HTML('<b>' + 'x' * 1000 + '</b>'))"
  const execution = { execution_id: (await client.run(params.container_id, { code })).id }
  expect((await all(client.events(execution.execution_id))).at(-1)?.event).toBe('done')
  const events = await client.call('GET /v1/executions/{execution_id}/events', { params: execution })
  expect((await namesOf(events)).at(-1)).toBe('done')
  const output = { ...execution, cell: '0', output: '0' }
  const bytes = await client.call('GET /v1/executions/{execution_id}/outputs/{cell}/{output}', {
    params: output,
    query: { type: 'text/html' },
  })
  expect(bytes.size).toBe(1_007)
  expect((await client.call('GET /v1/executions/{execution_id}', { params: execution })).status).toBe('succeeded')
  expect((await client.call('GET /v1/executions')).data.map(({ id }) => id)).toContain(execution.execution_id)
  expect((await client.call('GET /v1/containers/{container_id}/executions', { params })).data).toHaveLength(1)
  expect((await client.call('GET /v1/executions/{execution_id}/notebook.ipynb', { params: execution }))['nbformat']).toBe(4)
  expect((await client.call('GET /v1/containers/{container_id}/notebook.ipynb', { params }))['nbformat']).toBe(4)
  expect((await client.call('POST /v1/executions/{execution_id}/cancel', { params: execution })).status).toBe('succeeded')

  const started = await client.call('POST /v1/containers/{container_id}/commands', {
    params,
    query: { wait: 0 },
    body: { command: 'cat; sleep 600', pty: { cols: 80, rows: 24 } },
  })
  const command = { command_id: started.id }
  const status = async () => (await client.call('GET /v1/commands/{command_id}', { params: command })).status
  await expect.poll(status, { timeout: 30_000 }).toBe('running')
  expect((await client.call('GET /v1/containers/{container_id}/commands', { params })).data).toHaveLength(1)
  await client.call('POST /v1/commands/{command_id}/stdin', { params: command, body: { data: 'hello\n' } })
  await client.call('POST /v1/commands/{command_id}/resize', { params: command, body: { cols: 100, rows: 30 } })
  await client.call('POST /v1/commands/{command_id}/signal', { params: command, body: { signal: 'SIGHUP' } })
  await client.call('POST /v1/commands/{command_id}/cancel', { params: command })
  expect((await namesOf(await client.call('GET /v1/commands/{command_id}/events', { params: command }))).at(-1)).toBe('done')
})

it('reads models, limits and usage, and manages webhook endpoints', async () => {
  expect((await client.call('GET /v1/models')).data.map(({ id }) => id)).toContain('demo')
  expect((await client.call('GET /v1/models/{model}', { params: { model: 'demo' } })).id).toBe('demo')
  expect((await client.call('GET /v1/limits')).images.length).toBeGreaterThan(0)
  expect((await client.call('GET /v1/usage')).object).toBe('usage')
  expect((await client.call('GET /v1/key')).scopes).toContain('admin')
  expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200)
  const { data: types } = await client.call('GET /v1/webhook_event_types')
  const url = `http://${HOST}:${(receiver.address() as AddressInfo).port}/`
  const made = await client.call('POST /v1/webhook_endpoints', { body: { name: 'typed', url, event_types: types } })
  const params = { webhook_endpoint_id: made.id }
  expect((await client.call('GET /v1/webhook_endpoints')).data).toHaveLength(1)
  expect((await client.call('GET /v1/webhook_endpoints/{webhook_endpoint_id}', { params })).event_types).toEqual(types)
  await client.call('POST /v1/webhook_endpoints/{webhook_endpoint_id}', { params, body: { event_types: ['execution.failed'] } })
  await client.call('POST /v1/webhook_endpoints/{webhook_endpoint_id}/rotate_secret', { params, body: {} })
  const event = { event_type: 'execution.failed' } as const
  expect((await client.call('POST /v1/webhook_endpoints/{webhook_endpoint_id}/test', { params, body: event })).success).toBe(true)
  await client.call('GET /v1/webhook_endpoints/{webhook_endpoint_id}/deliveries', { params })
  expect((await client.call('DELETE /v1/webhook_endpoints/{webhook_endpoint_id}', { params })).deleted).toBe(true)
})

it('administers tenants, plans and keys', async () => {
  await client.call('PUT /v1/admin/plans/{plan}', { params: { plan: 'small' }, body: { limits: { dollars_per_day: 1 } } })
  expect((await client.call('GET /v1/admin/plans')).data).toHaveLength(1)
  const tenant = await client.call('POST /v1/admin/tenants', { body: { name: 'typed', plan: 'small' } })
  const params = { tenant_id: tenant.id }
  expect((await client.call('GET /v1/admin/tenants')).data).toContainEqual(expect.objectContaining({ id: tenant.id }))
  await client.call('POST /v1/admin/tenants/{tenant_id}', { params, body: { limits: { displays: 5 } } })
  expect((await client.call('GET /v1/admin/tenants/{tenant_id}', { params })).limits).toMatchObject({ displays: 5 })
  const { limits } = await client.call('GET /v1/admin/tenants/{tenant_id}/limits', { params })
  expect(limits['displays']).toMatchObject({ value: 5, set_by: 'tenant' })
  const key = await client.call('POST /v1/admin/tenants/{tenant_id}/keys', { params, body: { name: 'ci', scopes: ['run', 'read'] } })
  expect(key.scopes.includes('run')).toBe(true)
  expect((await client.call('GET /v1/admin/tenants/{tenant_id}/keys', { params })).data).toHaveLength(1)
  expect((await client.call('GET /v1/admin/keys')).data.length).toBeGreaterThan(0)
  expect((await client.call('GET /v1/admin/keys/{key_id}', { params: { key_id: key.id } })).name).toBe('ci')
  expect((await client.call('POST /v1/admin/keys/{key_id}/revoke', { params: { key_id: key.id } })).revoked_at).not.toBeNull()
  expect((await client.call('GET /v1/admin/tenants/{tenant_id}/usage', { params })).total.executions).toBe(0)
  expect((await client.call('GET /v1/admin/tenants/{tenant_id}/audit', { params })).object).toBe('list')
  await all(await client.call('GET /v1/admin/tenants/{tenant_id}/audit/blocks', { params }))
  expect((await client.call('POST /v1/admin/tenants/{tenant_id}/export', { params })).rows).toBeGreaterThan(0)
  const query = { key: `tenants/${tenant.id}/none` }
  await expect(client.call('GET /v1/admin/tenants/{tenant_id}/objects', { params, query })).rejects.toMatchObject({ status: 404 })
  expect((await client.call('GET /v1/admin/tenants/{tenant_id}/dead_letters', { params })).data).toEqual([])
  expect((await client.call('GET /v1/admin/tenants/{tenant_id}/executions', { params })).data).toEqual([])
  expect((await client.call('GET /v1/admin/tenants/{tenant_id}/refused_hosts', { params })).data).toEqual([])
  const redriven = client.call('POST /v1/admin/tenants/{tenant_id}/dead_letters/{job_id}/redrive', {
    params: { ...params, job_id: 'exec_none' },
    body: {},
  })
  await expect(redriven).rejects.toMatchObject({ status: 404 })
  expect((await client.call('DELETE /v1/admin/tenants/{tenant_id}', { params })).deletion).not.toBeNull()
  await client.call('DELETE /v1/admin/plans/{plan}', { params: { plan: 'small' } })
})

it('shares a conversation by a link that needs no key', async () => {
  const { id } = await client.call('POST /v1/conversations', { body: { items: [{ role: 'user', content: 'Hello' }] } })
  const params = { conversation_id: id }
  const share = await client.call('POST /v1/conversations/{conversation_id}/shares', { params, body: { expires_in_days: 1 } })
  const token = share.url.split('/').at(-1) ?? ''
  expect((await client.call('GET /v1/conversations/{conversation_id}/shares', { params })).data.map((one) => one.id)).toEqual([share.id])
  await client.call('GET /v1/shares/{token}', { params: { token } })
  const { data } = await client.call('GET /v1/shares/{token}/items', { params: { token } })
  expect(data.map(({ type }) => type)).toEqual(['message'])
  const execution = client.call('GET /v1/shares/{token}/items/{item_id}/execution', { params: { token, item_id: 'ci_none' } })
  await expect(execution).rejects.toMatchObject({ status: 404 })
  const revoked = { params: { ...params, share_id: share.id } }
  await client.call('DELETE /v1/conversations/{conversation_id}/shares/{share_id}', revoked)
})

it('tells the network of a container, which a server without a gateway refuses to open', async () => {
  const params = await newContainer()
  await client.call('PUT /v1/containers/{container_id}/network', { params, body: {} })
  const opened = client.call('PUT /v1/containers/{container_id}/network', { params, body: { presets: ['pypi'] } })
  await expect(opened).rejects.toBeInstanceOf(CellblockError)
  expect((await client.call('GET /v1/containers/{container_id}/network', { params })).presets).toEqual([])
  expect((await client.call('GET /v1/containers/{container_id}/network/requests', { params })).data).toEqual([])
  const secret = { params: { secret_name: 'KEY' } }
  const refused = { status: 400 }
  await expect(
    client.call('PUT /v1/secrets/{secret_name}', { ...secret, body: { value: 'x', hosts: ['a.example.com'] } }),
  ).rejects.toMatchObject(refused)
  for (const name of ['GET /v1/secrets/{secret_name}', 'DELETE /v1/secrets/{secret_name}'] as const)
    await expect(client.call(name, secret)).rejects.toMatchObject({ status: 404 })
  expect((await client.call('GET /v1/secrets')).data).toEqual([])
})

it('publishes a port of a container', async () => {
  const params = await newContainer()
  const { origin } = await client.call('POST /v1/containers/{container_id}/ports', { params, body: { port: 8_501 } })
  const { data } = await client.call('GET /v1/containers/{container_id}/ports', { params })
  expect(data.map((one) => [one.port, one.origin])).toEqual([[8_501, origin]])
  await client.call('DELETE /v1/containers/{container_id}/ports/{port}', { params: { ...params, port: '8501' } })
})

it('says that sandboxes of the default runtime cannot be suspended', async () => {
  const params = await newContainer()
  for (const name of ['POST /v1/containers/{container_id}/suspend', 'POST /v1/containers/{container_id}/resume'] as const)
    await expect(client.call(name, { params })).rejects.toMatchObject({ status: 409 })
})

it('copies a container', async () => {
  const params = await newContainer()
  const { data } = await client.call('POST /v1/containers/{container_id}/fork', { params, body: { count: 2 } })
  expect(data.map(({ name }) => name)).toEqual(data.map((_, index) => expect.stringMatching(new RegExp(`copy ${index + 1}$`))))
})

it('saves a container as a snapshot and starts containers from it', async () => {
  const params = await newContainer()
  const { id } = await client.call('POST /v1/containers/{container_id}/snapshots', { params, body: { name: 'prepared' } })
  const snapshot = { params: { snapshot_id: id } }
  expect((await client.call('GET /v1/snapshots', { query: { name: 'prepared' } })).data.map((one) => one.id)).toContain(id)
  expect(await client.call('GET /v1/snapshots/{snapshot_id}', snapshot)).toMatchObject({
    name: 'prepared',
    container_id: params.container_id,
  })
  const { data } = await client.call('POST /v1/snapshots/{snapshot_id}/containers', { ...snapshot, body: {} })
  expect(data).toHaveLength(1)
  await client.call('DELETE /v1/snapshots/{snapshot_id}', snapshot)
  await expect(client.call('GET /v1/snapshots/{snapshot_id}', snapshot)).rejects.toMatchObject({ status: 404 })
})

it('has called every operation of the document that a client of HTTP can use', async () => {
  const types = await readFile(join(import.meta.dirname, '../../packages/client/src/api.ts'), 'utf8')
  const operations = types.slice(types.indexOf('export interface Operations {'))
  const names = [...operations.matchAll(/^ {4}"([A-Z]+ [^"]+)":/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(100)
  expect(names.filter((name) => !called.has(String(name)))).toEqual([])
})
