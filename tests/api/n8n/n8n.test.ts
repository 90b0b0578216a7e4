import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { SCOPES } from '../../../services/model/tenants/tenant.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0 } })
})
afterAll(() => api.stop())

interface Sandbox {
  readonly id: string
  readonly status: string
  readonly created_at: number
  readonly last_active_at: number
}

function call(method: string, path: string, { body, key = api.owner }: { readonly body?: unknown; readonly key?: TestKey } = {}) {
  const headers = { 'x-api-key': key.key, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const content = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(`${api.url}/n8n${path}`, { method, headers, ...(body !== undefined && { body: content }) })
}
const create = async (id = randomUUID(), key = api.owner): Promise<Sandbox> =>
  (await (await call('POST', '/sandboxes', { body: { id }, key })).json()) as Sandbox

/** The container of a sandbox. */
async function containerOf(uuid: string, key = api.owner): Promise<string> {
  const { rows } = await api.table.containers.list(key.tenant, { after: null, limit: 1, order: 'desc', name: `n8n:${uuid}` })
  return rows[0]?.id ?? ''
}

/** Starts a command, whose stream the client leaves; returns the id of its row. */
async function start(uuid: string, body: object): Promise<string> {
  const container = await containerOf(uuid)
  const before = (await api.table.containers.get(api.owner.tenant, container))?.commands ?? []
  await (await call('POST', `/sandboxes/${uuid}/executions`, { body: { command: 'true', ...body } })).body?.cancel()
  const row = await api.table.containers.get(api.owner.tenant, container)
  return row?.commands?.find((id) => !before.includes(id)) ?? ''
}

const linesOf = async (answer: Response): Promise<Record<string, unknown>[]> =>
  (await answer.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const text = (seq: number, type: 'stdout' | 'stderr', printed: string): ExecutionEvent => ({ seq, at: 1, type, cell: 0, text: printed })

const FILE_CALLS = [
  ['GET', '/files'],
  ['GET', '/files/content?path=/tmp/x'],
  ['PUT', '/files'],
  ['POST', '/files'],
  ['DELETE', '/files?path=/tmp/x'],
  ['POST', '/files/copy'],
  ['POST', '/files/move'],
  ['POST', '/mkdir?path=/tmp/x'],
  ['GET', '/stat?path=/tmp/x'],
] as const
const TRANSFER = { src: '/tmp/a', dest: '/tmp/b' }
const BODIES: Readonly<Record<string, object>> = { '/executions': { command: 'true' }, '/files/copy': TRANSFER, '/files/move': TRANSFER }

it('answers its health check without a key', async () => {
  const answer = await fetch(`${api.url}/n8n/healthz`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
})

describe('credentials', () => {
  it.each([
    ['no key', {}],
    ['a wrong key', { 'x-api-key': 'wrong' }],
    ['a wrong key beside a valid one', { 'x-api-key': 'wrong', authorization: '' }],
  ])('refuses %s with 401', async (name, headers) => {
    const authorization = name.includes('beside') ? { authorization: `Bearer ${api.owner.key}` } : {}
    const answer = await fetch(`${api.url}/n8n/sandboxes`, { method: 'POST', headers: { ...headers, ...authorization } })
    expect(answer.status).toBe(401)
    expect(await answer.json()).toEqual({ error: expect.stringContaining('API key'), code: 401 })
  })

  const routes = ROUTES.filter(({ path, auth }) => path.startsWith('/n8n/') && auth !== 'public')
  it.for(routes.map((route) => [route.operationId, route] as const))('%s refuses a key without its scope', async ([, route]) => {
    const key = await api.newKey({ scopes: SCOPES.filter((scope) => scope !== route.scope) })
    const answer = await call(route.method.toUpperCase(), route.path.slice('/n8n'.length).replaceAll(/\{\w+\}/g, 'x'), { key })
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 403 }])
  })
})

describe('a sandbox', () => {
  it('gets a UUID, or has the one of its client', async () => {
    const made = await call('POST', '/sandboxes')
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as Sandbox
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const now = Date.now() / 1000
    const seen = (await (await call('GET', `/sandboxes/${id}`)).json()) as Sandbox
    expect(seen).toMatchObject({ id, status: 'running' })
    for (const at of [seen.created_at, seen.last_active_at]) expect(Math.abs(at - now)).toBeLessThan(30)
  })

  it('is created once by calls at the same time, and found by later ones', async () => {
    const body = { id: randomUUID() }
    const answers = await Promise.all(Array.from({ length: 4 }, () => call('POST', '/sandboxes', { body })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201])
    expect((await call('POST', '/sandboxes', { body })).status).toBe(200)
    const { rows } = await api.table.containers.list(api.owner.tenant, { after: null, limit: 10, order: 'desc', name: `n8n:${body.id}` })
    expect(rows).toHaveLength(1)
  })

  it.each(['', 'not-a-uuid', randomUUID().toUpperCase(), 7])('refuses the id %j', async (id) => {
    expect((await call('POST', '/sandboxes', { body: { id } })).status).toBe(400)
    expect((await call('GET', `/sandboxes/${id || 'x'}`)).status).toBe(400)
  })

  it('refuses data after the body of a creation, and creates nothing', async () => {
    const id = randomUUID()
    expect((await call('POST', '/sandboxes', { body: `{"id":"${id}"} {}` })).status).toBe(400)
    expect((await call('GET', `/sandboxes/${id}`)).status).toBe(404)
  })

  it('is deleted once; its id then names a new one, without what the first one had', async () => {
    const { id } = await create()
    await start(id, { exec_id: 'first' })
    expect((await call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
    for (const [method, path] of [
      ['DELETE', ''],
      ['GET', ''],
      ['POST', '/executions'],
      ['GET', '/executions/first'],
      ['DELETE', '/executions/first'],
      ...FILE_CALLS,
    ] as const) {
      const body = BODIES[path]
      const answer = await call(method, `/sandboxes/${id}${path}`, body === undefined ? {} : { body })
      expect([method, path, answer.status, await answer.json()]).toEqual([method, path, 404, { error: 'sandbox not found', code: 404 }])
    }
    expect((await call('POST', '/sandboxes', { body: { id } })).status).toBe(201)
    expect((await call('GET', `/sandboxes/${id}/executions/first`)).status).toBe(404)
  })

  it('is listed for its tenant, newest first, and no other container is', async () => {
    const key = await api.newKey()
    const first = await create(undefined, key)
    const second = await create(undefined, key)
    await api.openai(key).containers.create({ name: 'n8n:other' })
    const ids = async (of: TestKey): Promise<string[]> =>
      ((await (await call('GET', '/sandboxes', { key: of })).json()) as Sandbox[]).map(({ id }) => id)
    expect(await ids(key)).toEqual([second.id, first.id])
    expect(await ids(await api.newKey())).toEqual([])
  })

  it('of one tenant is unknown to another one, which may use the same UUID', async () => {
    const { id } = await create()
    const other = { key: api.otherTenant }
    for (const [method, path] of [['GET', ''], ['DELETE', ''], ['POST', '/executions'], ...FILE_CALLS] as const) {
      const body = BODIES[path]
      const answer = await call(method, `/sandboxes/${id}${path}`, { ...other, ...(body !== undefined && { body }) })
      expect([method, path, answer.status]).toEqual([method, path, 404])
    }
    expect((await call('POST', '/sandboxes', { ...other, body: { id } })).status).toBe(201)
    expect(await containerOf(id, api.otherTenant)).not.toBe(await containerOf(id))
    expect((await call('DELETE', `/sandboxes/${id}`, other)).status).toBe(204)
    expect((await call('GET', `/sandboxes/${id}`)).status).toBe(200)
  })
})

describe('an execution', () => {
  it.each([
    ['no command', {}],
    ['an empty command', { command: '' }],
    ['variables as a list', { command: 'true', env: ['A=b'] }],
    ['a negative time', { command: 'true', timeout_ms: -1 }],
    ['an id that is no segment of a path', { command: 'true', exec_id: '../x' }],
  ])('is refused with %s', async (_name, body) => {
    const { id } = await create()
    expect((await call('POST', `/sandboxes/${id}/executions`, { body })).status).toBe(400)
  })

  it('runs in a shell with home, folder, variables and time of the request', async () => {
    const { id } = await create()
    const row = await start(id, { command: 'env | sort', env: { A: 'b' }, workdir: '/tmp', timeout_ms: 1_500 })
    expect(await api.table.executions.get(api.owner.tenant, row)).toMatchObject({
      source: { argv: ['/bin/sh', '-c', 'env | sort'], isBackground: false },
      scope: { cwd: '/tmp', env: { HOME: '/home/user', PWD: '/tmp', A: 'b' } },
      timeoutSeconds: 2,
    })
    const plain = await start(id, {})
    expect(await api.table.executions.get(api.owner.tenant, plain)).toMatchObject({ scope: { cwd: '/home/user' }, timeoutSeconds: 300 })
    const long = await start(id, { timeout_ms: 90_000_000 })
    expect((await api.table.executions.get(api.owner.tenant, long))?.timeoutSeconds).toBe(3_600)
  })

  it('streams its events as lines, and names its id in a header before the first one', async () => {
    const { id } = await create()
    const exec_id = randomUUID()
    const answer = await call('POST', `/sandboxes/${id}/executions`, { body: { command: 'x', exec_id } })
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    expect(answer.headers.get('x-exec-id')).toBe(exec_id)
    const [row = ''] = (await api.table.containers.get(api.owner.tenant, await containerOf(id)))?.commands ?? []
    const logged = [text(1, 'stdout', 'out'), text(2, 'stderr', 'err')]
    const lost: ExecutionEvent = { seq: 3, at: 1, type: 'lost', what: 'stdout after 1 MiB', reason: 'It is too long.' }
    await finishExecution(api, api.owner.tenant, row, { logged: [...logged, lost], result: { exit: { code: 0, signal: null } } })
    expect(await linesOf(answer)).toEqual([
      { seq: 0, type: 'started', exec_id },
      { seq: 1, type: 'stdout', data: 'out' },
      { seq: 2, type: 'stderr', data: 'err' },
      { seq: 3, type: 'stderr', data: 'Not available: stdout after 1 MiB. It is too long.\n' },
      { seq: 4, type: 'exit', exit_code: 0, success: true, execution_time_ms: 0, timed_out: false, killed: false },
    ])
  })

  it('is resumed after a number, whole or as far as it is', async () => {
    const { id } = await create()
    const row = await start(id, { exec_id: 'long' })
    const path = `/sandboxes/${id}/executions/long`
    const numbers = async (query: string): Promise<unknown[]> => (await linesOf(await call('GET', path + query))).map(({ seq }) => seq)
    const owner = { kind: 'execution', tenant: api.owner.tenant, id: row } as const
    await api.table.events.append(owner, {
      firstSeq: 1,
      events: [text(1, 'stdout', 'a'), text(2, 'stdout', 'b')],
      fence: 1,
      sourceSeq: null,
    })
    expect(await numbers('')).toEqual([0, 1, 2])
    expect(await numbers('?after=1&follow=false')).toEqual([2])
    const followed = numbers('?after=0&follow=true')
    await finishExecution(api, api.owner.tenant, row, { doneSeq: 3, result: { exit: { code: 3, signal: null } } })
    expect(await followed).toEqual([1, 2, 3])
    expect(await numbers('?after=2')).toEqual([3])
    expect(await numbers('?after=3&follow=true')).toEqual([])
    for (const query of ['?after=-1', '?after=x', '?after=1&after=2', '?follow=yes'])
      expect((await call('GET', path + query)).status).toBe(400)
  })

  it('runs once for calls with the same id', async () => {
    const { id } = await create()
    const row = await start(id, { command: 'first', exec_id: 'same' })
    expect(await start(id, { command: 'second', exec_id: 'same' })).toBe('')
    expect(await api.table.executions.get(api.owner.tenant, row)).toMatchObject({ source: { argv: ['/bin/sh', '-c', 'first'] } })
  })

  it('is followed to its end, and not accepted again, by a call with its id after its end', async () => {
    const { id } = await create()
    const row = await start(id, { exec_id: 'ended' })
    await finishExecution(api, api.owner.tenant, row, { result: { exit: { code: 0, signal: null } } })
    const container = await containerOf(id)
    await api.table.containers.removeCommand(api.owner.tenant, container, { commandId: row, now: Date.now() })
    const again = await call('POST', `/sandboxes/${id}/executions`, { body: { command: 'true', exec_id: 'ended' } })
    expect((await linesOf(again)).map(({ type }) => type)).toEqual(['started', 'exit'])
    expect((await api.table.containers.get(api.owner.tenant, container))?.commands).toEqual([])
  })

  it('answers 410 for events that are no longer stored', async () => {
    const { id } = await create()
    const row = await start(id, { exec_id: 'old' })
    const owner = { kind: 'execution', tenant: api.owner.tenant, id: row } as const
    for (const seq of [1, 2, 3])
      await api.table.events.append(owner, { firstSeq: seq, events: [text(seq, 'stdout', 'x')], fence: 1, sourceSeq: null })
    await api.table.events.removeBefore(owner, 3)
    const status = async (query: string): Promise<number> => {
      const answer = await call('GET', `/sandboxes/${id}/executions/old${query}`)
      await answer.body?.cancel()
      return answer.status
    }
    expect([await status(''), await status('?after=1&follow=true'), await status('?after=2')]).toEqual([410, 410, 200])
  })

  it('does not exist any more once it is deleted, and its command is cancelled', async () => {
    const { id } = await create()
    const row = await start(id, { exec_id: 'gone' })
    const path = `/sandboxes/${id}/executions`
    expect((await call('DELETE', `${path}/gone`)).status).toBe(204)
    expect((await api.table.executions.get(api.owner.tenant, row))?.status).toBe('cancelled')
    for (const answer of [await call('GET', `${path}/gone`), await call('POST', path, { body: { command: 'x', exec_id: 'gone' } })])
      expect([answer.status, await answer.json()]).toEqual([404, { error: 'execution not found', code: 404 }])
    expect((await call('DELETE', `${path}/gone`)).status).toBe(204)
    expect((await call('DELETE', `${path}/never`)).status).toBe(204)
  })

  it.each([
    [
      'a signal',
      { result: { exit: { code: null, signal: 'SIGTERM' } } },
      { exit_code: 143, killed: true, timed_out: false, success: false },
    ],
    [
      'the time limit',
      { patch: { status: 'timed_out', reason: 'deadline' } },
      { exit_code: 137, killed: true, timed_out: true, success: false },
    ],
    [
      'another code',
      { patch: { status: 'failed', reason: 'error' }, result: { exit: { code: 7, signal: null } } },
      { exit_code: 7, killed: false },
    ],
    ['the loss of its sandbox', { patch: { status: 'failed', reason: 'sandbox_lost' } }, { type: 'error', error: /sandbox_lost/ }],
  ] as const)('reports its end by %s', async (_name, outcome, expected) => {
    const { id } = await create()
    const row = await start(id, { exec_id: 'one' })
    await finishExecution(api, api.owner.tenant, row, outcome)
    const last = (await linesOf(await call('GET', `/sandboxes/${id}/executions/one`))).at(-1)
    const { error, ...rest } = expected as { readonly error?: RegExp }
    expect(last).toMatchObject({ ...(error === undefined ? { type: 'exit' } : { error: expect.stringMatching(error) }), ...rest })
  })

  it('is refused above the queue of its sandbox with 429, which clients repeat', async () => {
    const { id } = await create()
    for (let index = 0; index < 32; index++) await start(id, {})
    const answer = await call('POST', `/sandboxes/${id}/executions`, { body: { command: 'true' } })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
  })
})

describe('a file operation', () => {
  it.each([
    ['GET', '/files/content'],
    ['PUT', '/files'],
    ['POST', '/files'],
    ['DELETE', '/files'],
    ['POST', '/mkdir'],
    ['GET', '/stat'],
    ['PUT', '/files?path=x&overwrite=maybe'],
    ['GET', `/stat?path=${'x'.repeat(1_025)}`],
    ['GET', '/stat?path=a%00b'],
  ])('%s %s is refused with 400', async (method, path) => {
    const { id } = await create()
    expect((await call(method, `/sandboxes/${id}${path}`)).status).toBe(400)
  })

  it.each(['/files/copy', '/files/move'])('%s needs a source and a target', async (path) => {
    const { id } = await create()
    expect((await call('POST', `/sandboxes/${id}${path}`, { body: { src: '/tmp/a' } })).status).toBe(400)
  })

  it('waits for a place among the commands of its sandbox', async () => {
    const { id } = await create()
    const container = await containerOf(id)
    const commands = async (): Promise<readonly string[]> => (await api.table.containers.get(api.owner.tenant, container))?.commands ?? []
    for (let index = 0; index < 32; index++) await start(id, {})
    const before = await commands()
    const { containers } = api.table
    const addCommand = containers.addCommand.bind(containers)
    let refused = 0
    containers.addCommand = async (...args) => {
      const answer = await addCommand(...args)
      if (answer === 'full') refused++
      return answer
    }
    const made = call('POST', `/sandboxes/${id}/mkdir?path=/tmp/x&recursive=true`)
    await expect.poll(() => refused).toBeGreaterThan(0)
    containers.addCommand = addCommand
    await api.table.containers.removeCommand(api.owner.tenant, container, { commandId: before[0] ?? '', now: Date.now() })
    const next = async (): Promise<string> => (await commands()).find((one) => !before.includes(one)) ?? ''
    await expect.poll(next, { timeout: 5_000 }).not.toBe('')
    const entry = { path: '/tmp/x', name: 'x', type: 'folder', bytes: 0, modified_at: 1, mode: 493 }
    const result = { stdout: JSON.stringify({ entry, is_new: true }), exit: { code: 0, signal: null } }
    await finishExecution(api, api.owner.tenant, await next(), { result })
    expect((await made).status).toBe(201)
  })

  it('stores a file in the container, where every wire finds it', async () => {
    const { id } = await create()
    const put = (path: string): Promise<Response> =>
      fetch(`${api.url}/n8n/sandboxes/${id}/files?path=${encodeURIComponent(path)}`, {
        method: 'PUT',
        headers: { 'x-api-key': api.owner.key, 'content-type': 'application/octet-stream' },
        body: 'text',
      })
    for (const path of ['/home/user/workspace/a.txt', 'b.txt', '~/c.txt']) expect((await put(path)).status).toBe(200)
    const { data } = await api.openai().containers.files.list(await containerOf(id))
    expect(data.map(({ path }) => path).toSorted()).toEqual(['/mnt/data/b.txt', '/mnt/data/c.txt', '/mnt/data/workspace/a.txt'])
    const answer = await call('GET', `/sandboxes/${id}/files/content?path=/home/user/b.txt`)
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['application/octet-stream', 'text'])
  })
})
