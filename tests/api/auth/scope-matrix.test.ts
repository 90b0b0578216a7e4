import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { SCOPES, type Scope } from '../../../services/model/tenants/tenant.ts'
import { grantFor, tokenOf } from '../../../services/wires/e2b/access-token.ts'
import { labelOf as sandboxIdOf } from '../../../services/model/containers/container-label.ts'
import { changeSession } from '../../../services/wires/e2b/session.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { zipOf } from '../../support/skill-files.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'
import { DECIDED_SCOPES } from './decided-scopes.ts'

let api: TestApi
let container: string
let execution: string
let skill: string
let clients: Readonly<Record<Scope | 'all', Client>>

const keyWith = (scopes: readonly Scope[]): Promise<TestKey> => api.newKey({ tenant: api.owner.tenant, scopes })

/** The official client with a key of these scopes; it reads tasks. */
async function connect(scopes: readonly Scope[]): Promise<Client> {
  const extensions = { 'io.modelcontextprotocol/tasks': {}, 'io.modelcontextprotocol/skills': {} }
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { extensions } },
  )
  const { key } = await keyWith(scopes)
  await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { authProvider: { token: async () => key } }))
  return client
}

beforeAll(async () => {
  api = await startApi()
  const openai = api.openai()
  container = (await openai.containers.create({ name: 'one' })).id
  await openai.containers.files.create(container, { file: await toFile(Buffer.from('x'), 'a.txt') })
  const manifest = '---\nname: plots\ndescription: Draws plots.\n---\n\nRun draw.py.\n'
  skill = (await openai.skills.create({ files: await toFile(zipOf({ 'plots/SKILL.md': manifest }), 'plots.zip') })).id
  const accepted = await api.post(`/v1/containers/${container}/executions`, { code: '1' })
  execution = ((await accepted.json()) as { id: string }).id
  await finishExecution(api, api.owner.tenant, execution, { result: { stdout: 'done\n' } })
  const without = (scope: Scope): Promise<Client> => connect(SCOPES.filter((one) => one === 'run' || one !== scope))
  clients = {
    run: await connect(['run']),
    read: await without('read'),
    files: await without('files'),
    share: await without('share'),
    secrets: await without('secrets'),
    admin: await without('admin'),
    all: await connect(['run', 'read', 'files']),
  }
})
afterAll(() => api.stop())

const tool = (name: string, args: () => Record<string, unknown>) => async (client: Client) => {
  const { isError, structuredContent } = await client.callTool({ name, arguments: args() })
  return isError === true ? (structuredContent as { error?: { code?: string } }).error?.code : undefined
}
const method = (name: string, params: () => Record<string, unknown>) => async (client: Client) => {
  try {
    await client.request({ method: name, params: params() }, z.looseObject({}))
    return undefined
  } catch (error) {
    return (error as { data?: { code?: string } }).data?.code ?? String(error)
  }
}

/** What each operation of MCP's wire needs besides `run`, without which a key does not reach the wire. */
const TOOLS: Readonly<Record<string, readonly [Scope, (client: Client) => Promise<string | undefined>]>> = {
  interrupt: ['run', tool('interrupt', () => ({ execution_id: execution }))],
  create_container: ['run', tool('create_container', () => ({}))],
  get_execution: ['read', tool('get_execution', () => ({ execution_id: execution }))],
  list_files: ['files', tool('list_files', () => ({ container_id: container }))],
  read_file: ['files', tool('read_file', () => ({ container_id: container, path: 'a.txt' }))],
  write_file: ['files', tool('write_file', () => ({ container_id: container, path: 'b.txt', text: 'x' }))],
}
/** Tested below: their code has to end. */
const RUNNING_TOOLS = ['execute_code', 'run_command']
const METHODS: Readonly<Record<string, readonly [Scope, (client: Client) => Promise<string | undefined>]>> = {
  'tools/list': ['run', method('tools/list', () => ({}))],
  'resources/list': ['run', method('resources/list', () => ({}))],
  'resources/templates/list': ['run', method('resources/templates/list', () => ({}))],
  'resources/read of a file': ['files', method('resources/read', () => ({ uri: `cellblock://containers/${container}/files/a.txt` }))],
  'resources/read of a notebook': ['read', method('resources/read', () => ({ uri: `cellblock://executions/${execution}/notebook.ipynb` }))],
  'resources/read of a skill': ['files', method('resources/read', () => ({ uri: `skill://${skill}/plots/SKILL.md` }))],
  'skills/list': ['read', method('skills/list', () => ({}))],
  'skills/get': ['read', method('skills/get', () => ({ uri: `skill://${skill}/plots/SKILL.md` }))],
  'tasks/get': ['read', method('tasks/get', () => ({ taskId: execution }))],
  'tasks/update': ['run', method('tasks/update', () => ({ taskId: execution }))],
  'tasks/cancel': ['run', method('tasks/cancel', () => ({ taskId: execution }))],
}

it('has a decision on the scope of every operation of every wire', () => {
  expect(Object.fromEntries(ROUTES.map(({ method, path, scope }) => [`${method} ${path}`, scope ?? 'public']))).toEqual(DECIDED_SCOPES)
})

describe("MCP's wire", () => {
  it('has no method without a scope', async () => {
    const registered = vi.spyOn(Server.prototype, 'setRequestHandler')
    await clients.all.listResources()
    const methods = registered.mock.calls.map(([name]) => name)
    registered.mockRestore()
    // Of the protocol itself, without data of a tenant; `tools/call` needs what the tool needs.
    const neutral = ['initialize', 'ping', 'server/discover', 'tools/call']
    const decided = Object.keys(METHODS).map((name) => name.split(' ')[0])
    expect([...new Set(methods)].toSorted()).toEqual([...new Set([...neutral, ...decided])].toSorted())
  })

  it('has no tool without a scope', async () => {
    const { tools } = await clients.all.listTools()
    expect(tools.map(({ name }) => name).toSorted()).toEqual([...Object.keys(TOOLS), ...RUNNING_TOOLS].toSorted())
  })

  it.each(Object.entries({ ...TOOLS, ...METHODS }))('%s needs its scope, and no other', async (_name, [scope, call]) => {
    if (scope !== 'run') expect(await call(clients[scope])).toBe('insufficient_scope')
    expect(await call(await connect(['run', scope]))).toBeUndefined()
  })

  it('lists no skill as a resource for a key without the scope "read"', async () => {
    expect((await clients.all.listResources()).resources).toHaveLength(1)
    expect((await clients.run.listResources()).resources).toEqual([])
  })

  it.each([
    ['execute_code', { code: 'print(1)' }],
    ['run_command', { command: 'sleep 1' }],
  ])('%s answers a key with the scope "run" alone with the result, never with a task', { timeout: 30_000 }, async (name, args) => {
    const [id, other] = (await Promise.all([0, 1].map(() => api.openai().containers.create({ name })))).map((created) => created.id)
    const called = clients.run.callTool({ name, arguments: { ...args, container_id: id } })
    const running = async (): Promise<string | undefined> => {
      const row = await api.table.containers.get(api.owner.tenant, id ?? '')
      return row?.queue[0] ?? row?.commands?.[0]
    }
    await expect.poll(running).toBeDefined()
    // A later call with the scope `read` has its task first. The SDK's client reads none.
    const later = clients.all.callTool({ name, arguments: { ...args, container_id: other } })
    await expect(later).rejects.toThrow("Unsupported result type 'task'")
    await finishExecution(api, api.owner.tenant, (await running()) ?? '', { result: { stdout: 'done\n' } })
    expect(await called).toMatchObject({ structuredContent: { stdout: 'done\n' } })
  })
})

describe("E2B's wire", () => {
  const routes = ROUTES.flatMap((route) => (route.path.startsWith('/e2b/') ? [route] : []))

  it('has procedures of both planes', () => {
    expect(routes.length).toBeGreaterThan(40)
    expect(new Set(routes.map(({ scope }) => scope))).toEqual(new Set(['run', 'read', 'files']))
  })

  it.each(routes.map((route) => [route.operationId, route] as const))(
    '%s refuses a key and a token without its scope',
    async (_id, route) => {
      const caller = {
        ...(await keyWith(SCOPES.filter((scope) => scope !== route.scope))),
        scopes: SCOPES.filter((scope) => scope !== route.scope),
      }
      const row = await api.table.containers.get(api.owner.tenant, container)
      if (row === null) throw new Error('the container is missing')
      const grant = grantFor({ ...caller, subject: null })
      const root = 'root'
      await changeSession({ deps: api }, row, () => ({
        secrets: { root },
        grants: [grant],
        template: 'base',
        metadata: {},
        env: {},
        endAt: 0,
        onTimeout: 'pause',
        autoResume: true,
        isPaused: false,
        keepsMemory: true,
        hasClosedPorts: false,
        requestHost: null,
        contexts: [],
        watchers: [],
      }))
      const token = tokenOf(root, grant)
      const answer = await fetch(`${api.url}${route.path.replaceAll(/\{\w+\}/g, 'x')}`, {
        method: route.method.toUpperCase(),
        headers: { 'x-api-key': caller.key, 'x-access-token': token, 'e2b-sandbox-id': sandboxIdOf(row) },
      })
      expect(answer.status, await answer.text()).toBe(403)
    },
  )
})
