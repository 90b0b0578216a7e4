import { once } from 'node:events'
import { WebSocket } from 'ws'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { terminalClient, type TerminalCall } from '../../support/terminal-client.ts'

let api: TestApi
let call: TerminalCall
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0 }, maxKeyless: 256 })
  call = terminalClient(api.url, api.owner.key)
})
afterAll(() => api.stop())

const opened: WebSocket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate()
})

/** Each test has its own user. */
let users = 0
const newUser = (): string => `user-${users++}`
const create = async (user: string, chat?: string): Promise<string> =>
  ((await (await call('POST', '/api/terminals', { user, ...(chat !== undefined && { chat }) })).json()) as { readonly id: string }).id

interface Shell {
  readonly socket: WebSocket
  /** What it printed so far. */
  readonly printed: () => string
  /** The code and the reason of the end. */
  readonly closed: Promise<readonly [number, string]>
}

async function connect(
  id: string,
  { user = '', headers = {}, query = '' }: { user?: string; headers?: object; query?: string } = {},
): Promise<Shell> {
  const url = `${api.url.replace('http', 'ws')}/open-webui/api/terminals/${id}${query}`
  const socket = new WebSocket(url, { headers: { ...(user !== '' && { 'x-user-id': user, 'x-session-id': '' }), ...headers } })
  opened.push(socket)
  let printed = ''
  socket.on('message', (data: Buffer, isBinary) => (printed += isBinary ? data.toString() : '[text]'))
  const closed = once(socket, 'close').then(([code, reason]) => [Number(code), String(reason)] as const)
  // One that is refused has no end.
  closed.catch(() => undefined)
  await once(socket, 'open')
  return { socket, printed: () => printed, closed }
}
const authenticate = ({ socket }: Shell, token = api.owner.key, more: object = {}): void =>
  socket.send(JSON.stringify({ type: 'auth', token, ...more }))
async function open(user: string): Promise<Shell & { readonly id: string }> {
  const id = await create(user)
  const shell = await connect(id, { user })
  authenticate(shell)
  return { ...shell, id }
}
const text = (seq: number, printed: string): ExecutionEvent => ({ seq, at: 1, type: 'stdout', cell: 0, text: printed })
const print = (id: string, event: ExecutionEvent): Promise<unknown> =>
  api.table.events.append(
    { kind: 'execution', tenant: api.owner.tenant, id },
    { firstSeq: event.seq, events: [event], fence: 1, sourceSeq: null },
  )
const inputOf = async (id: string): Promise<readonly unknown[]> =>
  api.table.events.read({ kind: 'input', tenant: api.owner.tenant, id }, -1, 10)

describe('a shell', () => {
  it('is a login shell in a terminal, which its chat lists until it is deleted', async () => {
    const user = newUser()
    const id = await create(user, 'one')
    expect(await api.table.executions.get(api.owner.tenant, id)).toMatchObject({
      source: { argv: ['/bin/bash', '-l'], pty: { cols: 80, rows: 24 } },
      scope: { cwd: '/home/user', env: { TERM: 'xterm-256color' } },
    })
    const list = async (chat: string): Promise<unknown> => (await call('GET', '/api/terminals', { user, chat })).json()
    expect(await list('one')).toEqual([{ id, created_at: expect.stringMatching(/^\d{4}-/), pid: null }])
    expect([await list('two'), await (await call('GET', '/execute', { user, chat: 'one' })).json()]).toEqual([[], []])
    expect((await call('DELETE', `/api/terminals/${id}`, { user, chat: 'two' })).status).toBe(404)
    expect(await (await call('DELETE', `/api/terminals/${id}`, { user, chat: 'one' })).json()).toEqual({ status: 'deleted' })
    expect(await list('one')).toEqual([])
  })

  it('sends what it prints, and gets what the user types and the size of the window', async () => {
    const user = newUser()
    const { id, socket, printed } = await open(user)
    await print(id, text(1, '$ '))
    await expect.poll(printed).toBe('$ ')
    socket.send(Buffer.from('ls\r'))
    socket.send(JSON.stringify({ type: 'resize', cols: 120, rows: 40 }))
    socket.send(Buffer.from([0x03]))
    await expect.poll(() => inputOf(id)).toHaveLength(3)
    expect(await inputOf(id)).toMatchObject([
      { type: 'stdin', data: Buffer.from('ls\r').toString('base64') },
      { type: 'resize', cols: 120, rows: 40 },
      { type: 'stdin', data: 'Aw==' },
    ])
    await print(id, text(2, 'ü\0'))
    await expect.poll(printed).toBe('$ ü\0')
  })

  it('closes its connection when it ends', async () => {
    const { id, closed } = await open(newUser())
    await finishExecution(api, api.owner.tenant, id, { result: { exit: { code: 0, signal: null } } })
    expect((await closed)[0]).toBe(1000)
  })

  it('ends with its connection', async () => {
    const { id, socket, printed } = await open(newUser())
    await print(id, text(1, '$ '))
    await expect.poll(printed).toBe('$ ')
    socket.close()
    await expect.poll(async () => (await api.table.executions.get(api.owner.tenant, id))?.cancelRequestedAt ?? null).not.toBeNull()
  })

  it('ends when its key is revoked', async () => {
    const { key, keyId, tenant } = await api.newKey()
    const { id } = (await (await terminalClient(api.url, key)('POST', '/api/terminals')).json()) as { id: string }
    const shell = await connect(id, { user: 'ann' })
    authenticate(shell, key)
    await expect.poll(() => api.openSockets()).toBeGreaterThan(0)
    await api.table.tenants.revokeKey(keyId, Date.now())
    shell.socket.send(Buffer.from('x'))
    expect((await shell.closed)[0]).toBe(4001)
    expect(await api.table.events.read({ kind: 'input', tenant, id }, -1, 10)).toEqual([])
  })

  it('takes the user and the chat from where other versions of Open WebUI put them', async () => {
    const user = newUser()
    const id = await create(user, 'one')
    const shell = await connect(id, { query: `?user_id=${user}&context_id=default` })
    authenticate(shell, api.owner.key, { chat_id: 'one' })
    await print(id, text(1, '$ '))
    await expect.poll(shell.printed).toBe('$ ')
  })
})

describe('a connection', () => {
  it.each([
    ['another user', { user: 'mallory' }, (): string => api.owner.key, 4004],
    ['another account', {}, (): string => api.otherTenant.key, 4004],
    ['a wrong key', {}, (): string => 'ck_wrong', 4001],
    ['a key with a line break', {}, (): string => 'ck\n', 4001],
  ])('of %s is closed, and reads nothing', async (_name, other, key, code) => {
    const user = newUser()
    const id = await create(user)
    await print(id, text(1, 'secret'))
    const shell = await connect(id, { user, ...other })
    authenticate(shell, key())
    expect((await shell.closed)[0]).toBe(code)
    expect(shell.printed()).toBe('')
    expect((await api.table.executions.get(api.owner.tenant, id))?.cancelRequestedAt ?? null).toBeNull()
  })

  it.each([
    ['text', 'hello'],
    ['another message', '{"type":"resize","cols":1,"rows":1}'],
    ['bytes', Buffer.from(JSON.stringify({ type: 'auth', token: 'x' }))],
  ])('that begins with %s is closed', async (_name, message) => {
    const user = newUser()
    const shell = await connect(await create(user), { user, headers: { authorization: `Bearer ${api.owner.key}` } })
    shell.socket.send(message)
    expect((await shell.closed)[0]).toBe(4001)
  })

  it('counts for its address until it has a key, and then for its account', async () => {
    const before = api.openSockets()
    const user = newUser()
    const known = await open(user)
    await print(known.id, text(1, '$ '))
    await expect.poll(known.printed).toBe('$ ')
    const waiting = await Promise.all(Array.from({ length: 64 }, () => connect('x', { user })))
    await expect(connect('x', { user })).rejects.toThrow(/429/)
    expect(api.openSockets()).toBe(before + 65)
    for (const { socket } of waiting) socket.terminate()
    await expect.poll(() => api.openSockets()).toBe(before + 1)
    expect((await connect('x', { user })).socket.readyState).toBe(WebSocket.OPEN)
  })

  it('is one of the open streams of its account', async () => {
    const { key, tenant } = await api.newKey()
    await api.table.tenants.create({ v: 1, id: tenant, name: 'few', createdAt: Date.now(), policy: { limits: { openStreams: 1 } } })
    const client = terminalClient(api.url, key)
    const ids = await Promise.all([0, 1].map(async () => ((await (await client('POST', '/api/terminals')).json()) as { id: string }).id))
    const first = await connect(ids[0] ?? '', { user: 'ann' })
    authenticate(first, key)
    first.socket.send(Buffer.from('x'))
    await expect.poll(() => api.table.events.read({ kind: 'input', tenant, id: ids[0] ?? '' }, -1, 10)).toHaveLength(1)
    const second = await connect(ids[1] ?? '', { user: 'ann' })
    authenticate(second, key)
    expect(await second.closed).toEqual([1013, expect.stringContaining('open event streams')])
  })

  it('whose messages have no effect is one of the requests of its account', async () => {
    const { key, tenant } = await api.newKey()
    await api.table.tenants.create({ v: 1, id: tenant, name: 'slow', createdAt: Date.now(), policy: { limits: { requestsPerSecond: 20 } } })
    const { id } = (await (await terminalClient(api.url, key)('POST', '/api/terminals')).json()) as { id: string }
    const shell = await connect(id, { user: 'ann' })
    authenticate(shell, key)
    for (let sent = 0; sent < 200; sent++) shell.socket.send('{"type":"other"}')
    expect((await shell.closed)[0]).toBe(1013)
  })

  it.each([
    ['without an upgrade', {}, 426],
    ['of a page of another site', { origin: 'https://example.com', connection: 'upgrade', upgrade: 'websocket' }, 403],
  ])('%s is refused', async (_name, headers, status) => {
    if (status === 426) expect((await fetch(`${api.url}/open-webui/api/terminals/x`, { headers })).status).toBe(426)
    else await expect(connect('x', { headers })).rejects.toThrow(/403/)
  })
})

it('is not offered where no connection becomes a WebSocket, and Open WebUI learns it', async () => {
  const without = await startApi({ hasWebSockets: false })
  try {
    const features = async (url: string): Promise<unknown> => (await (await fetch(`${url}/open-webui/api/config`)).json()) as unknown
    expect(await features(without.url)).toMatchObject({ features: { terminal: false } })
    expect(await features(api.url)).toMatchObject({ features: { terminal: true } })
  } finally {
    await without.stop()
  }
})
