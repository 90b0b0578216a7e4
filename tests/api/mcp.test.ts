import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMcpRoute } from '../../services/wires/mcp/routes.ts'
import { conformanceFixtures } from '../client-compat/mcp-fixtures.ts'
import { finishExecution, headOf } from '../support/finish-execution.ts'
import { startApi, type TestApi, type TestKey } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

type Mode = 'legacy' | { pin: string }
const ERAS: readonly (readonly [string, Mode])[] = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
]

/** The official client with a key; the connection is stateless, so nothing has to be closed. */
async function connect(mode: Mode, key: TestKey = api.owner, extensions: Record<string, Record<string, never>> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities: { extensions } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { authProvider: { token: async () => key.key } }))
  return client
}

/** Calls execute_code and ends the execution as a worker would. */
async function execute(client: Client, args: Record<string, unknown>, result: Parameters<typeof finishExecution>[3]) {
  const containerId = String(args['container_id'])
  const called = client.callTool({ name: 'execute_code', arguments: args })
  await finishExecution(api, api.owner.tenant, await headOf(api, api.owner.tenant, containerId), result)
  return called
}

const created = async (client: Client): Promise<string> =>
  ((await client.callTool({ name: 'create_container', arguments: { name: 'agent' } })).structuredContent as { id: string }).id

const firstText = (result: { content: readonly { type: string }[] }): string => (result.content[0] as unknown as { text: string }).text

describe.each(ERAS)('MCP %s', (_version, mode) => {
  it('lists tools in a stable order, with schemas', async () => {
    const client = await connect(mode)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'execute_code',
      'run_command',
      'get_execution',
      'interrupt',
      'create_container',
      'list_files',
      'read_file',
      'write_file',
    ])
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['code'] })
  })

  it('runs code in a container and returns text, an image, a link to a file, and fields', async () => {
    const client = await connect(mode)
    const container = await created(client)
    const png = 'iVBORw0KGgo='
    const result = await execute(
      client,
      { code: '6 * 7', container_id: container },
      {
        result: {
          stdout: 'hello\n',
          cells: [
            {
              index: 0,
              status: 'ok',
              executionCount: 1,
              outputs: [
                { output_type: 'display_data', data: { 'image/png': png }, metadata: {} },
                { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '42' }, metadata: {} },
              ],
            },
          ],
          files: [{ id: 'cfile_x', path: 'a b.csv', bytes: 3, mime: 'text/csv', sha256: 'x', isNew: true, modifiedFrom: null }],
        },
      },
    )
    expect(result.isError ?? false).toBe(false)
    expect(firstText(result)).toMatch(/^hello\n\n42\nFile: \/mnt\/data\/a b\.csv/)
    expect(result.content).toContainEqual({ type: 'image', data: png, mimeType: 'image/png' })
    expect(result.content).toContainEqual(
      expect.objectContaining({ type: 'resource_link', uri: `cellblock://containers/${container}/files/a%20b.csv` }),
    )
    expect(result.structuredContent).toMatchObject({ object: 'execution', status: 'succeeded', results: ['42'], container_id: container })
  })

  it('marks failing code as a tool error with the traceback', async () => {
    const client = await connect(mode)
    const result = await execute(
      client,
      { code: '1/0', container_id: await created(client) },
      {
        result: { error: { name: 'ZeroDivisionError', value: 'division by zero', traceback: ['ZeroDivisionError: division by zero'] } },
        patch: { status: 'failed', reason: 'error' },
      },
    )
    expect(result.isError).toBe(true)
    expect(firstText(result)).toContain('ZeroDivisionError: division by zero')
  })

  it('writes, lists and reads files, by tool and as a resource', async () => {
    const client = await connect(mode)
    const container_id = await created(client)
    await client.callTool({ name: 'write_file', arguments: { container_id, path: '/mnt/data/sub/a.txt', text: 'grüße' } })
    const listed = await client.callTool({ name: 'list_files', arguments: { container_id } })
    const [entry] = (listed.structuredContent as { files: { path: string; uri: string }[] }).files
    expect(entry?.path).toBe('/mnt/data/sub/a.txt')
    expect(firstText(await client.callTool({ name: 'read_file', arguments: { container_id, path: 'sub/a.txt' } }))).toBe('grüße')
    const { contents } = await client.readResource({ uri: entry?.uri ?? '' })
    expect(contents).toMatchObject([{ text: 'grüße', mimeType: 'text/plain' }])
  })

  it('answers for the container of another tenant as for one that does not exist', async () => {
    const container_id = await created(await connect(mode))
    const other = await connect(mode, api.otherTenant)
    const result = await other.callTool({ name: 'list_files', arguments: { container_id } })
    expect(result.isError).toBe(true)
    expect(firstText(result)).toBe(`No container "${container_id}" exists. Create one with POST /v1/containers.`)
    await expect(other.readResource({ uri: `cellblock://containers/${container_id}/files/x` })).rejects.toThrow(/not found/i)
  })

  it('interrupts what runs in a container', async () => {
    const client = await connect(mode)
    const container_id = await created(client)
    const running = client.callTool({ name: 'execute_code', arguments: { code: 'while True: pass', container_id } })
    const id = await headOf(api, api.owner.tenant, container_id)
    const result = await client.callTool({ name: 'interrupt', arguments: { container_id } })
    expect(result.structuredContent).toEqual({ interrupted: [{ id, status: 'cancelled' }] })
    expect(await running).toMatchObject({ isError: true, structuredContent: { status: 'cancelled' } })
  })
})

/** The id of the next command of a container. */
async function commandIn(containerId: string): Promise<string> {
  for (;;) {
    const [id] = (await api.table.containers.get(api.owner.tenant, containerId))?.commands ?? []
    if (id !== undefined) return id
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The answer to a call by hand of a client with these extensions. */
async function callWith(extensions: object, method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions },
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  }
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': (params['name'] ?? params['taskId']) as string,
  }
  const answer = await api.post('/mcp', { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, { headers })
  return (await answer.json()) as Record<string, unknown>
}
/** The result for a client that declared tasks. */
const withTasks = async (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> =>
  (await callWith({ 'io.modelcontextprotocol/tasks': {} }, method, params))['result'] as Record<string, unknown>

it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('%s tells a client without tasks which capability it lacks', async (method) => {
  expect(await callWith({}, method, { taskId: 'exec_1' })).toMatchObject({
    error: { code: -32021, data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } } },
  })
})

const LONG = [
  { name: 'execute_code', given: { code: 'slow()' }, idIn: (container: string) => headOf(api, api.owner.tenant, container) },
  { name: 'run_command', given: { command: 'make' }, idIn: commandIn },
]

describe.each(LONG)('a long $name', { concurrent: true }, ({ name, given, idIn }) => {
  it('is a task for a client that declared tasks', { timeout: 30_000 }, async () => {
    const container = await created(await connect({ pin: '2026-07-28' }))
    const task = await withTasks('tools/call', { name, arguments: { ...given, container_id: container } })
    expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null })
    const taskId = String(task['taskId'])
    expect(await withTasks('tasks/get', { taskId })).toMatchObject({ resultType: 'complete', taskId, status: 'working' })
    await finishExecution(api, api.owner.tenant, await idIn(container), { result: { stdout: 'done\n' } })
    expect(await withTasks('tasks/get', { taskId })).toMatchObject({
      status: 'completed',
      result: { structuredContent: { id: taskId, stdout: 'done\n' } },
    })
  })

  it('is a task that its client can cancel', { timeout: 30_000 }, async () => {
    const container = await created(await connect({ pin: '2026-07-28' }))
    const { taskId } = await withTasks('tools/call', { name, arguments: { ...given, container_id: container } })
    await withTasks('tasks/cancel', { taskId })
    expect(await withTasks('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' })
  })

  it('is waited for, with progress, without tasks', { timeout: 30_000 }, async () => {
    const client = await connect('legacy')
    const container = await created(client)
    const progress = Promise.withResolvers<unknown>()
    const called = client.callTool(
      { name, arguments: { ...given, container_id: container } },
      { onprogress: progress.resolve, resetTimeoutOnProgress: true },
    )
    const id = await idIn(container)
    await progress.promise
    expect(
      (await client.callTool({ name: 'get_execution', arguments: { execution_id: id, wait_seconds: 0 } })).structuredContent,
    ).toMatchObject({ id, status: 'queued' })
    await finishExecution(api, api.owner.tenant, id, { result: { stdout: 'done\n' } })
    expect(await called).toMatchObject({ structuredContent: { id, stdout: 'done\n' } })
  })
})

it('interrupts a command by its id, and the commands of a container', async () => {
  const client = await connect('legacy')
  for (const target of ['execution_id', 'container_id'] as const) {
    const container_id = await created(client)
    const running = client.callTool({ name: 'run_command', arguments: { command: 'sleep 1000', container_id } })
    const id = await commandIn(container_id)
    const which = target === 'execution_id' ? { execution_id: id } : { container_id }
    const result = await client.callTool({ name: 'interrupt', arguments: which })
    expect(result.structuredContent).toEqual({ interrupted: [{ id, status: 'cancelled' }] })
    expect(await running).toMatchObject({ isError: true, structuredContent: { id, status: 'cancelled' } })
  }
})

it('runs code in another language of the image, and refuses one that the image lacks', async () => {
  const client = await connect('legacy')
  const container_id = await created(client)
  const called = client.callTool({ name: 'execute_code', arguments: { code: 'echo 1', language: 'bash', container_id } })
  const id = await headOf(api, api.owner.tenant, container_id)
  expect(await api.table.executions.get(api.owner.tenant, id)).toMatchObject({ language: 'bash' })
  await finishExecution(api, api.owner.tenant, id)
  expect((await called).isError).toBeUndefined()
  const refused = await client.callTool({ name: 'execute_code', arguments: { code: '1', language: 'r', container_id } })
  expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'unsupported_value' } } })
})

it('refuses the files of a container to a key without the scope "files"', async () => {
  const container_id = await created(await connect('legacy'))
  await (await connect('legacy')).callTool({ name: 'write_file', arguments: { container_id, path: 'a.txt', text: 'x' } })
  const client = await connect('legacy', await api.newKey({ tenant: api.owner.tenant, scopes: ['run'] }))
  for (const name of ['list_files', 'read_file', 'write_file']) {
    const refused = await client.callTool({ name, arguments: { container_id, path: 'a.txt', text: 'y' } })
    expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'insufficient_scope' } } })
  }
  await expect(client.readResource({ uri: `cellblock://containers/${container_id}/files/a.txt` })).rejects.toThrow(
    /lacks the scope "files"/,
  )
})

it('requires an API key and answers 405 to GET', async () => {
  const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' }, key: null }
  expect((await api.fetch('/mcp', init)).status).toBe(401)
  expect((await api.fetch('/mcp')).status).toBe(405)
})

it('with the conformance fixtures, serves fixtures without a key and still refuses the tools of the product', async () => {
  const fixtures = await startApi({ routes: [createMcpRoute(conformanceFixtures)] })
  try {
    const client = new Client({ name: 'suite', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${fixtures.url}/mcp`)))
    const simple = await client.callTool({ name: 'test_simple_text', arguments: {} })
    expect(firstText(simple)).toBe('This is a simple text response for testing.')
    const refused = await client.callTool({ name: 'create_container', arguments: {} })
    expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'invalid_api_key' } } })
  } finally {
    await fixtures.stop()
  }
})

it('refuses a request of another origin', async () => {
  const answer = await api.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { headers: { origin: 'https://evil.example' } })
  expect(answer.status).toBe(403)
})
