import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { unescaped } from '../../../services/wires/open-webui/processes.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { terminalClient, type TerminalCall } from '../../support/terminal-client.ts'

let api: TestApi
let call: TerminalCall
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0 } })
  call = terminalClient(api.url, api.owner.key)
})
afterAll(() => api.stop())

interface Process {
  readonly id: string
  readonly status: string
  readonly exit_code: number | null
  readonly output: readonly { readonly type: string; readonly data: string }[]
  readonly next_offset: number
  readonly truncated: boolean
}
/** Each test has its own user, whose terminal may be full at the end. */
let users = 0
const newUser = (): string => `user-${users++}`

const start = async (user: string, body: object = {}): Promise<Process> =>
  (await (await call('POST', '/execute', { user, body: { command: 'true', ...body } })).json()) as Process
const read = async (user: string, id: string, query = ''): Promise<Process> =>
  (await (await call('GET', `/execute/${id}/status${query}`, { user })).json()) as Process
const text = (seq: number, printed: string): ExecutionEvent => ({ seq, at: 1, type: 'stdout', cell: 0, text: printed })
const print = (id: string, events: readonly ExecutionEvent[]): Promise<unknown> =>
  api.table.events.append(
    { kind: 'execution', tenant: api.owner.tenant, id },
    { firstSeq: events[0]?.seq ?? 1, events, fence: 1, sourceSeq: null },
  )
const outputOf = ({ output }: Process): string => output.map(({ data }) => data).join('')

describe('a command', () => {
  it('runs in a terminal with plain output, for the longest time of the account', async () => {
    const { id, status, exit_code: code, output, next_offset: next } = await start(newUser(), { command: 'ls', env: { A: 'b' } })
    expect({ status, code, output, next }).toEqual({ status: 'running', code: null, output: [], next: 0 })
    expect(await api.table.executions.get(api.owner.tenant, id)).toMatchObject({
      source: { argv: ['/bin/bash', '-lc', 'ls'], pty: { cols: 80, rows: 24 }, isBackground: false },
      scope: { cwd: '/home/user', env: { TERM: 'dumb', PAGER: 'cat', A: 'b' } },
      timeoutSeconds: 3_600,
    })
  })

  it.each([
    ['no command', {}, ''],
    ['an empty command', { command: '' }, ''],
    ['variables as a list', { command: 'true', env: ['A=b'] }, ''],
    ['a wait that is too long', { command: 'true' }, '?wait=301'],
    ['a wait that is no number', { command: 'true' }, '?wait=soon'],
    ['no output at all', { command: 'true' }, '?tail=0'],
  ])('is refused with %s', async (_name, body, query) => {
    const answer = await call('POST', `/execute${query}`, { body })
    expect([answer.status, await answer.json()]).toMatchObject([400, { detail: expect.any(String) }])
  })

  it('is waited for, and shows its output and its exit code', async () => {
    const user = newUser()
    const waiting = call('POST', '/execute?wait=60.5', { user, body: { command: 'true' } })
    const id = await running(user)
    await finishExecution(api, api.owner.tenant, id, {
      logged: [text(1, 'one\r\n'), text(2, 'two\r\n')],
      result: { exit: { code: 3, signal: null } },
      patch: { status: 'failed', reason: 'error' },
    })
    const ended = (await (await waiting).json()) as Process
    expect(ended).toMatchObject({ id, status: 'done', exit_code: 3, truncated: false, next_offset: 2 })
    expect(ended.output).toEqual([
      { type: 'output', data: 'one\r\n' },
      { type: 'output', data: 'two\r\n' },
    ])
  })

  it('shows only new output after an offset, while it runs and afterwards', async () => {
    const user = newUser()
    const { id } = await start(user)
    await print(id, [text(1, 'a'), text(2, 'b')])
    const first = await read(user, id)
    expect([outputOf(first), first.next_offset]).toEqual(['ab', 2])
    expect([outputOf(await read(user, id, '?offset=2')), outputOf(await read(user, id, '?tail=1'))]).toEqual(['', 'b'])
    expect((await read(user, id, '?tail=1')).truncated).toBe(true)
    await finishExecution(api, api.owner.tenant, id, { tail: [text(3, 'c')], doneSeq: 4, result: { exit: { code: 0, signal: null } } })
    const last = await read(user, id, '?offset=2')
    expect([last.status, outputOf(last), last.next_offset]).toEqual(['done', 'c', 3])
    for (const offset of [3, 4, 999]) expect(await read(user, id, `?offset=${offset}`)).toMatchObject({ status: 'done', output: [] })
    expect((await call('GET', `/execute/${id}/status?offset=-1`, { user })).status).toBe(400)
  })

  it('shows the end of an output that is too long for its log, and what is missing', async () => {
    const user = newUser()
    const { id } = await start(user)
    const lost: ExecutionEvent = { seq: 2, at: 1, type: 'lost', what: 'stdout after 1 MiB', reason: 'It is too long.' }
    await finishExecution(api, api.owner.tenant, id, {
      logged: [text(1, 'head'), lost],
      result: { stdout: 'head…tail', exit: { code: 0, signal: null } },
    })
    expect(outputOf(await read(user, id))).toBe('head[Not available: stdout after 1 MiB. It is too long.]\nhead…tail')
  })

  it.each([
    ['a signal', { exit: { code: null, signal: 'SIGTERM' } }, {}, { status: 'done', exit_code: 143 }],
    ['the loss of its sandbox', {}, { status: 'failed', reason: 'sandbox_lost' }, { status: 'done', exit_code: null }],
  ] as const)('reports its end by %s', async (_name, result, patch, expected) => {
    const user = newUser()
    const { id } = await start(user)
    await finishExecution(api, api.owner.tenant, id, { result, patch })
    const ended = await read(user, id)
    expect(ended).toMatchObject(expected)
    if (expected.exit_code === null) expect(outputOf(ended)).toMatch(/without an exit code \(failed, sandbox_lost\)/)
  })

  it('is refused above those of its terminal with 429', async () => {
    const user = newUser()
    for (let index = 0; index < 32; index++) await start(user)
    const answer = await call('POST', '/execute', { user, body: { command: 'true' } })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
  })
})

/** The id of the one process that runs for a user. */
async function running(user: string): Promise<string> {
  const ids = async (): Promise<string[]> => ((await (await call('GET', '/execute', { user })).json()) as Process[]).map(({ id }) => id)
  await expect.poll(ids).toHaveLength(1)
  return (await ids())[0] ?? ''
}

describe('a running command', () => {
  const inputOf = async (id: string): Promise<unknown[]> =>
    (await api.table.events.read({ kind: 'input', tenant: api.owner.tenant, id }, -1, 10)).map(({ seq: _seq, at: _at, ...event }) => event)

  it('gets input, in which escape sequences are control characters', async () => {
    const user = newUser()
    const { id } = await start(user, { command: 'python3' })
    const answer = await call('POST', `/execute/${id}/input`, { user, body: { input: 'print(1)\\n\\x03ü\n' } })
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
    expect(await inputOf(id)).toMatchObject([{ type: 'stdin', data: Buffer.from('print(1)\n\x03ü\n').toString('base64') }])
  })

  it.each([
    ['a\\tb\\\\n', 'a\tb\\n'],
    ['\\u00e9\\x1b[A', 'é\x1b[A'],
    ['\\q \\x4 é', '\\q \\x4 é'],
  ])('reads %j as %j', (given, expected) => {
    expect(unescaped(given)).toBe(expected)
  })

  it('takes no input after its end', async () => {
    const user = newUser()
    const { id } = await start(user)
    await finishExecution(api, api.owner.tenant, id, { result: { exit: { code: 0, signal: null } } })
    const answer = await call('POST', `/execute/${id}/input`, { user, body: { input: 'x' } })
    expect([answer.status, await answer.json()]).toMatchObject([409, { detail: expect.stringContaining('has ended') }])
    expect((await call('DELETE', `/execute/${id}`, { user })).status).toBe(200)
  })

  it('is cancelled before a sandbox has it, and then reported as killed', async () => {
    const user = newUser()
    const { id } = await start(user)
    expect(await (await call('DELETE', `/execute/${id}`, { user })).json()).toEqual({ status: 'killed' })
    expect(await read(user, id)).toMatchObject({ status: 'killed' })
  })
})
