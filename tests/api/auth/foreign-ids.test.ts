import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLink } from '../../../services/core/links/create-link.ts'
import { ROUTES } from '../../../services/api/wires/routes.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
let mine: Record<string, string>
let ann: TestKey
let bob: TestKey
const none: Record<string, string> = {
  container_id: 'cntr_01kajv9h2s8p0ww3d4dq4cs1zt',
  session_id: 'cntr_01kajv9h2s8p0ww3d4dq4cs1zt',
  execution_id: 'exec_01kajv9h2s8p0ww3d4dq4cs1zt',
  command_id: 'cmd_01kajv9h2s8p0ww3d4dq4cs1zt',
  response_id: 'resp_01kajv9h2s8p0ww3d4dq4cs1zt',
  file_id: 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt',
  link_id: 'link_01kajv9h2s8p0ww3d4dq4cs1zt',
  user_file_id: 'file-01kajv9h2s8p0ww3d4dq4cs1zt',
  conversation_id: 'conv_01kajv9h2s8p0ww3d4dq4cs1zt',
  item_id: 'msg_01kajv9h2s8p0ww3d4dq4cs1zt',
  upload_id: 'upload_01kajv9h2s8p0ww3d4dq4cs1zt',
}
const malformed = Object.fromEntries(Object.keys(none).map((name) => [name, '..%2F..%2Fetc']))

beforeAll(async () => {
  api = await startApi()
  const { tenant } = await api.newKey()
  ann = await api.newKey({ tenant, subject: 'ann' })
  bob = await api.newKey({ tenant, subject: 'bob' })
  const client = api.openai(ann)
  const container = await client.containers.create({ name: 'hers' })
  const file = await client.containers.files.create(container.id, { file: new File(['x'], 'x') })
  const execution = (await (await api.post(`/v1/containers/${container.id}/executions?wait=0`, { code: 'x' }, { key: ann })).json()) as {
    id: string
  }
  await finishExecution(api, tenant, execution.id)
  const command = (await (await api.post(`/v1/containers/${container.id}/commands?wait=0`, { command: 'x' }, { key: ann })).json()) as {
    id: string
  }
  const response = await client.responses.create({ model: 'demo', input: 'x', background: true })
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
  mine = {
    conversation_id: conversation.id,
    item_id: item?.id ?? '',
    container_id: container.id,
    session_id: container.id,
    file_id: file.id,
    execution_id: execution.id,
    command_id: command.id,
    response_id: response.id,
    link_id: link.id,
    user_file_id: userFile.id,
    upload_id: upload.id,
  }
})
afterAll(() => api.stop())

const BODIES: Record<string, unknown> = {
  runCode: { code: 'x' },
  runCommand: { command: 'true' },
  sendCommandStdin: { data: 'x' },
  signalCommand: { signal: 'SIGTERM' },
  resizeCommand: { cols: 80, rows: 24 },
  createUploadUrl: { path: 'x', bytes: 1 },
  createContainerFile: { file_id: none['file_id'] },
  createConversationItems: { items: [{ role: 'user', content: 'y' }] },
  updateConversation: { metadata: {} },
  completeFileUpload: { part_ids: ['part_1'] },
}
const routes = ROUTES.filter((route) => /\{(?!token|model)/.test(route.path))

async function probe(route: (typeof routes)[number], ids: Record<string, string>, key: TestKey): Promise<unknown> {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
  const body = BODIES[route.operationId]
  const answer = await api.fetch(path, {
    key,
    method: route.method.toUpperCase(),
    headers: body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': 'probe' },
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
    expect(missing.status).toBe(404)
    expect(await probe(route, mine, api.otherTenant)).toEqual(missing)
    expect(await probe(route, malformed, api.otherTenant)).toEqual(missing)
  },
)

it.for(routes.filter((route) => route.operationId !== 'revokeLink').map((route) => [route.operationId, route] as const))(
  '%s answers another end user of the tenant as if nothing were there',
  async ([, route]) => {
    expect(await probe(route, mine, bob)).toEqual(await probe(route, none, bob))
  },
)

it('changed nothing', async () => {
  const client = api.openai(ann)
  expect(await client.containers.retrieve(mine['container_id'] ?? '')).toMatchObject({ name: 'hers' })
  expect((await client.containers.files.list(mine['container_id'] ?? '')).data.map((file) => file.id)).toEqual([mine['file_id']])
  expect((await client.responses.retrieve(mine['response_id'] ?? '')).status).toBe('queued')
  expect((await client.conversations.retrieve(mine['conversation_id'] ?? '')).metadata).toEqual({ of: 'ann' })
  expect((await client.conversations.items.list(mine['conversation_id'] ?? '')).data.map(({ id }) => id)).toEqual([mine['item_id']])
  expect((await client.files.retrieve(mine['user_file_id'] ?? '')).filename).toBe('x')
  expect((await api.table.uploads.get(ann.tenant, mine['upload_id'] ?? ''))?.status).toBe('pending')
  expect((await api.table.links.revoke(ann.tenant, mine['link_id'] ?? '', 1))?.revokedAt).toBe(1)
})
