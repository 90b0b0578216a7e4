import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCOPES } from '../../../services/model/tenants/tenant.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { terminalClient, type TerminalCall } from '../../support/terminal-client.ts'

let api: TestApi
let call: TerminalCall
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0 } })
  call = terminalClient(api.url, api.owner.key)
})
afterAll(() => api.stop())

/** The containers of the wire that a tenant has, by their names. */
async function terminals(tenant = api.owner.tenant): Promise<Readonly<Record<string, string | null>>> {
  const { rows } = await api.table.containers.list(tenant, { after: null, limit: 100, order: 'desc', name: null })
  return Object.fromEntries(rows.flatMap(({ name, subject }) => (name.startsWith('open-webui:') ? [[name, subject]] : [])))
}
const idOf = async (answer: Response): Promise<string> => ((await answer.json()) as { readonly id: string }).id

describe('discovery', () => {
  it('answers health and features without a key', async () => {
    expect(await (await fetch(`${api.url}/open-webui/health`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${api.url}/open-webui/api/config`)).json()).toMatchObject({ features: { system: true } })
  })

  it('is known as a service with a terminal for each user', async () => {
    const answer = await call('GET', '/api/v1/policies', { user: '' })
    expect([answer.status, await answer.json()]).toEqual([200, []])
  })

  it.each([
    ['GET', '/p/data/openapi.json'],
    ['PUT', '/api/v1/policies/data'],
    ['GET', '/api/v1/policies/data/lifecycle'],
    ['POST', '/api/v1/terminals/refresh'],
  ])('says that %s %s is not offered', async (method, path) => {
    const answer = await call(method, path)
    expect([answer.status, await answer.json()]).toMatchObject([501, { detail: expect.any(String) }])
  })

  it('describes tools whose paths and arguments its routes have', async () => {
    const { paths } = (await (await call('GET', '/openapi.json', { user: '' })).json()) as { readonly paths: Paths }
    const names: string[] = []
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const route = ROUTES.find((one) => one.path === `/open-webui${path}` && one.method === method)
        const own = {
          path: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
          query: keysOf(route?.query?.()),
          body: keysOf(route?.ownBody?.()),
        }
        for (const { name, in: place } of operation.parameters) expect(own[place], `${operation.operationId} ${name}`).toContain(name)
        const fields = Object.keys(operation.requestBody?.content['application/json'].schema.properties ?? {})
        expect(fields.toSorted(), operation.operationId).toEqual(own.body.toSorted())
        names.push(operation.operationId)
      }
    expect(names).toEqual(expect.arrayContaining(['run_command', 'display_file', 'write_file', 'grep_search']))
    expect(names).toHaveLength(12)
  })
})

interface Paths {
  readonly [path: string]: {
    readonly [method: string]: {
      readonly operationId: string
      readonly parameters: readonly { readonly name: string; readonly in: 'path' | 'query' }[]
      readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: { readonly properties: object } } } }
    }
  }
}
const keysOf = (schema: unknown): string[] => Object.keys((schema as { readonly shape?: object } | undefined)?.shape ?? {})

describe('credentials', () => {
  const routes = ROUTES.filter(({ path, auth }) => path.startsWith('/open-webui/') && auth !== 'public')

  it.each([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer ck_wrong' }],
  ])('refuses %s with 401', async (_name, headers) => {
    const answer = await fetch(`${api.url}/open-webui/execute`, { headers: { ...headers, 'x-user-id': 'ann' } })
    expect([answer.status, await answer.json()]).toMatchObject([401, { detail: expect.stringContaining('API key') }])
  })

  it.for(routes.map((route) => [route.operationId, route] as const))('%s refuses a key without its scope', async ([, route]) => {
    const key = await api.newKey({ scopes: SCOPES.filter((scope) => scope !== route.scope) })
    const path = route.path.slice('/open-webui'.length).replaceAll(/\{\w+\}/g, 'x')
    const answer = await terminalClient(api.url, key.key)(route.method.toUpperCase(), path)
    expect([answer.status, await answer.json()]).toMatchObject([403, { detail: expect.stringContaining(route.scope ?? '') }])
  })
})

describe('a user', () => {
  it('has one terminal in all chats, or one for each chat of a connection that asks for it', async () => {
    const { tenant, key } = await api.newKey()
    const run = terminalClient(api.url, key)
    const body = { command: 'true' }
    await run('POST', '/execute', { user: 'ann', chat: 'one', body })
    await run('POST', '/execute', { user: 'ann', chat: 'two', body })
    await run('POST', '/execute', { user: 'ann', chat: 'two', context: 'chat:two', body })
    await run('POST', '/execute', { user: 'bob', chat: 'two', body })
    expect(await terminals(tenant)).toEqual({
      'open-webui:ann:default': 'ann',
      'open-webui:ann:chat:two': 'ann',
      'open-webui:bob:default': 'bob',
    })
  })

  it('gets one terminal from calls at the same time', async () => {
    const { tenant, key } = await api.newKey()
    const run = terminalClient(api.url, key)
    await Promise.all(Array.from({ length: 4 }, () => run('POST', '/execute', { body: { command: 'true' } })))
    const { rows } = await api.table.containers.list(tenant, { after: null, limit: 10, order: 'desc', name: null })
    expect(rows).toHaveLength(1)
  })

  it.each([
    ['another user', { user: 'bob' }],
    ['another chat', { chat: 'two' }],
    ['another terminal of the chat', { context: 'chat:one' }],
  ])('and not %s finds a process', async (_name, other) => {
    const mine = { user: 'ann', chat: 'one' }
    const id = await idOf(await call('POST', '/execute', { ...mine, body: { command: 'true' } }))
    const reads = [
      ['GET', `/execute/${id}/status`],
      ['POST', `/execute/${id}/input`],
      ['DELETE', `/execute/${id}?force=true`],
    ] as const
    for (const [method, path] of reads) {
      const body = method === 'POST' ? { body: { input: 'x' } } : {}
      const missing = await call(method, path.replace(id, 'cmd_01kajv9h2s8p0ww3d4dq4cs1zt'), { ...mine, ...other, ...body })
      const foreign = await call(method, path, { ...mine, ...other, ...body })
      expect([foreign.status, await foreign.json()]).toEqual([404, await missing.json()])
    }
    expect(await (await call('GET', '/execute', { ...mine, ...other })).json()).not.toContainEqual(expect.objectContaining({ id }))
    expect(await (await call('GET', '/execute', mine)).json()).toContainEqual(expect.objectContaining({ id, status: 'running' }))
  })

  it('of another account is another one, whatever the name', async () => {
    const id = await idOf(await call('POST', '/execute', { body: { command: 'true' } }))
    const other = terminalClient(api.url, api.otherTenant.key)
    await other('POST', '/files/write', { body: { path: 'a.txt', content: 'theirs' } })
    expect((await other('GET', `/execute/${id}/status`)).status).toBe(404)
    expect((await call('GET', '/files/read?path=a.txt')).status).toBe(404)
  })

  it('has to be named, unless the key is bound to one', async () => {
    for (const [method, path] of [
      ['POST', '/execute'],
      ['GET', '/files/cwd'],
      ['GET', '/files/list'],
    ] as const) {
      const answer = await call(method, path, { user: '', ...(method === 'POST' && { body: { command: 'true' } }) })
      expect([answer.status, await answer.json()]).toMatchObject([400, { detail: expect.stringContaining('names no user') }])
    }
    const { key, tenant } = await api.newKey({ subject: 'carol' })
    const carol = terminalClient(api.url, key)
    await carol('POST', '/execute', { user: '', body: { command: 'true' } })
    // Two users with one bound key do not meet either.
    await carol('POST', '/execute', { user: 'dave', body: { command: 'true' } })
    expect(await terminals(tenant)).toEqual({ 'open-webui::default': 'carol', 'open-webui:dave:default': 'carol' })
  })

  it.each([
    [{ user: 'ann:chat:x' }],
    [{ user: 'x'.repeat(101) }],
    [{ context: 'other' }],
    [{ context: `chat:${'x'.repeat(101)}` }],
    [{ context: 'chat:a:b' }],
    [{ chat: 'x'.repeat(201) }],
    [{ chat: 'a b' }],
  ])('is refused with the headers %j', async (headers) => {
    expect((await call('POST', '/execute', { ...headers, body: { command: 'true' } })).status).toBe(400)
  })

  it('leaves nothing in the account by looking where a chat is, or for files that are not there', async () => {
    const { tenant, key } = await api.newKey()
    const look = terminalClient(api.url, key)
    expect(await (await look('GET', '/files/cwd')).json()).toEqual({
      cwd: '/home/user',
      home: '/home/user',
      root: { path: '/home/user', label: 'Home' },
    })
    expect(await (await look('GET', '/execute')).json()).toEqual([])
    expect(await terminals(tenant)).toEqual({})
    // Open WebUI looks for this file in every turn: no sandbox starts for it.
    for (let time = 0; time < 2; time++) expect((await look('GET', '/files/read?path=/home/user/AGENTS.md')).status).toBe(404)
    expect(await (await look('GET', '/files/display?path=plot.png')).json()).toEqual({ path: '/home/user/plot.png', exists: false })
    const [container] = (await api.table.containers.list(tenant, { after: null, limit: 1, order: 'desc', name: null })).rows
    expect(container).toMatchObject({ generation: 0 })
    expect(container?.commands ?? []).toEqual([])
  })
})

describe('a folder', () => {
  it('is that of the chat, for commands and paths', async () => {
    const { tenant, key } = await api.newKey()
    const run = terminalClient(api.url, key)
    const moved = run('POST', '/files/cwd', { chat: 'one', body: { path: 'work' } })
    const { container, commands } = await expectCommand(tenant)
    const entry = { path: '/mnt/data/work', name: 'work', type: 'folder', bytes: 0, modified_at: 1, mode: 493 }
    const commandId = commands[0] ?? ''
    await finishExecution(api, tenant, commandId, { result: { stdout: JSON.stringify({ entry }) } })
    await api.table.containers.removeCommand(tenant, container, { commandId, now: Date.now() })
    expect(await (await moved).json()).toEqual({ cwd: '/home/user/work' })
    expect(await (await run('GET', '/files/cwd', { chat: 'one' })).json()).toMatchObject({ cwd: '/home/user/work' })
    expect(await (await run('GET', '/files/cwd', { chat: 'two' })).json()).toMatchObject({ cwd: '/home/user' })
    await run('POST', '/files/write', { chat: 'one', body: { path: 'a.txt', content: 'here' } })
    const files = await api.table.files.all(tenant, container)
    expect(files.map(({ path }) => path)).toEqual(['work/a.txt'])
    for (const [chat, cwd, expected] of [
      ['one', undefined, '/home/user/work'],
      ['one', 'sub/../a', '/home/user/work/a'],
      ['one', '/tmp', '/tmp'],
      ['one', '~', '/home/user'],
      ['two', undefined, '/home/user'],
    ] as const) {
      const id = await idOf(await run('POST', '/execute', { chat, body: { command: 'pwd', cwd } }))
      expect((await api.table.executions.get(tenant, id))?.scope).toMatchObject({
        cwd: expected,
        env: { PWD: expected, HOME: '/home/user' },
      })
    }
  })
})

/** The only container of a tenant, with the commands that it has as soon as there is one. */
async function expectCommand(tenant: string): Promise<{ readonly container: string; readonly commands: readonly string[] }> {
  const read = async () => (await api.table.containers.list(tenant, { after: null, limit: 1, order: 'desc', name: null })).rows[0]
  await expect.poll(async () => (await read())?.commands ?? []).not.toEqual([])
  const row = await read()
  return { container: row?.id ?? '', commands: row?.commands ?? [] }
}
