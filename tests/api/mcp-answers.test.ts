import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finishExecution, headOf } from '../support/finish-execution.ts'
import { startApi, type TestApi } from '../support/start-api.ts'

const HEARTBEAT_MS = 100

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { heartbeatMs: HEARTBEAT_MS } })
})
afterAll(() => api.stop())

type Mode = 'legacy' | { pin: string }

interface Connection {
  readonly client: Client
  /** The answers so far, with a copy of each body. */
  readonly answers: { readonly type: string | null; readonly text: Promise<string> }[]
  readonly container: string
}

/** The official client, a new container, and a record of what the server answers from then on. */
async function connect(mode: Mode): Promise<Connection> {
  const answers: Connection['answers'] = []
  const recording: typeof fetch = async (...given) => {
    const answer = await fetch(...given)
    answers.push({ type: answer.headers.get('content-type'), text: answer.clone().text() })
    return answer
  }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const options = { authProvider: { token: async () => api.owner.key }, fetch: recording }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), options))
  const { structuredContent } = await client.callTool({ name: 'create_container', arguments: {} })
  answers.length = 0
  return { client, answers, container: (structuredContent as { id: string }).id }
}

const end = async (container: string): Promise<void> =>
  finishExecution(api, api.owner.tenant, await headOf(api, api.owner.tenant, container), { result: { stdout: 'done\n' } })

describe.each<[string, Mode]>([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
])('an answer of MCP %s', (_revision, mode) => {
  it('is JSON for a call of a tool', async () => {
    const { client, answers } = await connect(mode)
    await client.callTool({ name: 'create_container', arguments: { name: 'second' } })
    expect(answers.map(({ type }) => type)).toEqual(['application/json'])
  })

  it('starts with whitespace when the tool needs longer than one heartbeat, and ends with the result', async () => {
    const { client, answers, container } = await connect(mode)
    const called = client.callTool({ name: 'execute_code', arguments: { code: 'slow()', container_id: container } })
    await expect.poll(() => answers.length).toBe(1)
    await end(container)
    expect((await called).structuredContent).toMatchObject({ status: 'succeeded', stdout: 'done\n' })
    expect(await answers[0]?.text).toMatch(/^\n+\{/)
  })

  it('is events with progress for a client that asked for progress', { timeout: 30_000 }, async () => {
    const { client, answers, container } = await connect(mode)
    const progress: number[] = []
    const request = { name: 'execute_code', arguments: { code: 'slow()', container_id: container } }
    const called = client.callTool(request, { onprogress: (notification) => progress.push(notification.progress) })
    await expect.poll(() => progress, { timeout: 10_000 }).toEqual([1])
    await end(container)
    expect((await called).structuredContent).toMatchObject({ status: 'succeeded', stdout: 'done\n' })
    expect(answers.map(({ type }) => type)).toEqual(['text/event-stream'])
  })

  it('refuses a tool that does not exist', async () => {
    const { client } = await connect(mode)
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow('Tool nothing not found')
  })

  it('describes a wrong argument as an error of the tool', async () => {
    const { client } = await connect(mode)
    const result = await client.callTool({ name: 'execute_code', arguments: { code: 7 } })
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain('Invalid arguments for tool execute_code')
  })
})

describe('a request before revision 2026-07-28', () => {
  const CALL = { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'create_container', arguments: {} } }
  const BOTH = 'application/json, text/event-stream'
  const send = (body: string, headers: Record<string, string>): Promise<Response> =>
    api.fetch('/mcp', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
  const errorOf = async (answer: Response): Promise<unknown> => ((await answer.json()) as { readonly error?: unknown }).error

  it('calls a tool without naming a revision', async () => {
    const answer = await send(JSON.stringify(CALL), { accept: BOTH })
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: 'a', result: { structuredContent: { name: 'mcp' } } })
  })

  it.each([
    ['before', () => Promise.resolve()],
    ['after', (answered: Promise<unknown>) => answered],
  ])('cancels its execution when the client disconnects, %s the first heartbeat', async (_when, moment) => {
    const { container } = await connect('legacy')
    const stop = new AbortController()
    const params = { name: 'execute_code', arguments: { code: 'slow()', container_id: container } }
    const answered = api.fetch('/mcp', {
      method: 'POST',
      body: JSON.stringify({ ...CALL, params }),
      headers: { 'content-type': 'application/json', accept: BOTH },
      signal: stop.signal,
    })
    const broken = answered.then((answer) => answer.text()).catch((error: unknown) => String(error))
    const id = await headOf(api, api.owner.tenant, container)
    await moment(answered)
    stop.abort()
    await expect.poll(async () => (await api.table.executions.get(api.owner.tenant, id))?.status).toBe('cancelled')
    expect(await broken).toContain('AbortError')
  })

  it('is one event of the log, with the tool and the execution', async () => {
    const { client, container } = await connect('legacy')
    const called = client.callTool({ name: 'execute_code', arguments: { code: 'quick()', container_id: container } })
    const id = await headOf(api, api.owner.tenant, container)
    await end(container)
    await called
    expect(api.events).toContainEqual(
      expect.objectContaining({ event: 'http.request', tool: 'execute_code', execution_id: id, status: 200 }),
    )
  })

  it('is refused with 406 if it accepts no events', async () => {
    expect((await send(JSON.stringify(CALL), { accept: 'application/json' })).status).toBe(406)
  })

  it('is refused with 400 if its revision is unknown', async () => {
    const answer = await send(JSON.stringify(CALL), { accept: BOTH, 'mcp-protocol-version': '2020-01-01' })
    expect(answer.status).toBe(400)
    expect(await errorOf(answer)).toMatchObject({ message: expect.stringContaining('Unsupported protocol version') })
  })

  it.each(['{', '', '[1', ' '])('is refused with the code for parse errors if its body is %j', async (body) => {
    const answer = await send(body, { accept: BOTH })
    expect(answer.status).toBe(400)
    expect(await errorOf(answer)).toMatchObject({ code: -32_700 })
  })

  it('is refused with 415 if its body is not declared as JSON', async () => {
    expect((await send(JSON.stringify(CALL), { accept: BOTH, 'content-type': 'text/plain' })).status).toBe(415)
  })

  it('may be a batch', async () => {
    const answer = await send(JSON.stringify([CALL, { ...CALL, id: 'b' }]), { accept: BOTH, 'mcp-protocol-version': '2025-03-26' })
    const text = await answer.text()
    expect(text).toContain('"id":"a"')
    expect(text).toContain('"id":"b"')
  })
})
