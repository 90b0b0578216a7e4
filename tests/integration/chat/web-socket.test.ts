import { once } from 'node:events'
import { ResponsesWS } from 'openai/resources/responses/ws'
import type { ResponseInput, ResponsesClientEvent, ResponsesServerEvent } from 'openai/resources/responses/responses'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { requestPool } from '../../../services/http/connection-budget.ts'
import { Admission, SocketAdmissions } from '../../../services/http/socket-admissions.ts'
import { ResponsesSocket } from '../../../services/wires/openai/responses/responses-socket.ts'
import { call, runPython, say } from '../../support/scripted-upstream.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { codeTools, wireFixture } from '../../support/scripted-turns.ts'

const fixture = wireFixture()
const { inOrder } = fixture
type Create = Partial<Omit<ResponsesClientEvent.ResponseCreate, 'type'>>

const opened: { close(): void }[] = []
afterEach(() => opened.splice(0).forEach((socket) => socket.close()))

/** A connection of OpenAI's client, with every event that it has received. */
function connect() {
  const socket = new ResponsesWS(fixture.client)
  opened.push(socket)
  const events: ResponsesServerEvent[] = []
  const errors: unknown[] = []
  socket.on('event', (event) => void events.push(event))
  socket.on('error', (error) => void errors.push(error))
  const create = (fields: Create = {}) => socket.send({ type: 'response.create', model: 'scripted', input: 'Go', ...fields })
  const completed = () => events.filter((event) => event.type === 'response.completed')
  /** The response of the n-th completed turn. */
  const response = async (at = 0) => {
    await expect.poll(() => completed().length, { timeout: 10_000 }).toBeGreaterThan(at)
    return completed()[at]?.response ?? expect.unreachable()
  }
  const refusal = async () => {
    await expect.poll(() => events.find((event) => event.type === 'error'), { timeout: 10_000 }).toBeDefined()
    return events.find((event) => event.type === 'error')
  }
  return { socket, events, errors, create, response, refusal }
}

interface Refusal {
  readonly error: { readonly code: string; readonly message: string }
}

interface Handshake {
  readonly url?: string
  readonly key?: string | null
  readonly headers?: Record<string, string>
}
/** A plain connection; `status` is that of a refused handshake. */
async function handshake({ url = fixture.worked.api.url, key = fixture.worked.api.owner.key, headers = {} }: Handshake = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
  })
  opened.push(socket)
  socket.on('error', () => undefined)
  return new Promise<{ readonly socket: WebSocket; readonly status: number; readonly body: Refusal | null }>((resolve) => {
    socket.once('open', () => resolve({ socket, status: 101, body: null }))
    socket.once('unexpected-response', (_, answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () =>
        resolve({ socket, status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as Refusal }),
      )
    })
  })
}

describe("OpenAI's client on a WebSocket", () => {
  it('receives the events of a turn that runs code, as the stream of a request has them', async () => {
    const { create, events, response } = connect()
    inOrder(runPython('6 * 7'), say('It is 42.'))
    create({ tools: codeTools })
    expect(await response()).toMatchObject({ status: 'completed', output: [{ type: 'code_interpreter_call' }, { type: 'message' }] })
    const types = events.map(({ type }) => type)
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
    expect(types).toContain('response.code_interpreter_call_code.delta')
    expect(events.map((event) => ('sequence_number' in event ? event.sequence_number : null))).toEqual(events.map((_, at) => at))
    expect(events.every((event) => !('stream_id' in event))).toBe(true)
  })

  it('continues on the connection with the new input only, also without storage', async () => {
    const { create, response } = connect()
    inOrder(call({ name: 'get_weather', arguments: '{}' }))
    const weather = { type: 'function' as const, name: 'get_weather', parameters: { type: 'object', properties: {} }, strict: false }
    create({ store: false, tools: [weather] })
    const first = await response()
    inOrder(say('It is warm.'))
    const output = { type: 'function_call_output' as const, call_id: 'call_get_weather_0', output: '25 degrees' }
    create({ store: false, previous_response_id: first.id, input: [output] })
    expect((await response(1)).output).toMatchObject([{ content: [{ text: 'It is warm.' }] }])
    expect(fixture.worked.upstream.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])

    // Another connection and a request do not have it.
    const other = connect()
    other.create({ previous_response_id: first.id })
    expect(await other.refusal()).toMatchObject({
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    })
    await expect(fixture.client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
  })

  it('does not continue an unstored response after a continuation that failed', async () => {
    const { create, response, errors, events } = connect()
    inOrder(say('OK.'))
    create({ store: false })
    const { id } = await response()
    const output = { type: 'function_call_output' as const, call_id: 'call_none', output: 'x' }
    create({ store: false, previous_response_id: id, input: [output] })
    create({ store: false, previous_response_id: id })
    await expect.poll(() => errors.length, { timeout: 10_000 }).toBe(2)
    expect(events.filter((event) => event.type === 'error')).toMatchObject([
      { status: 400, error: { code: 'invalid_request', param: 'input[0].call_id' } },
      { status: 400, error: { code: 'previous_response_not_found' } },
    ])
  })

  it('continues from a compacted conversation', async () => {
    inOrder(say('The code word is slate.'))
    const { output } = await fixture.client.responses.compact({ model: 'scripted', input: 'Remember the code word: slate.' })
    const { create, response } = connect()
    inOrder(say('slate'))
    create({ store: false, input: [...(output as ResponseInput), { role: 'user', content: 'Which one?' }] })
    expect((await response()).output).toMatchObject([{ content: [{ text: 'slate' }] }])
  })

  it('prepares a turn with generate false, without a call of the model', async () => {
    const { create, response } = connect()
    inOrder(say('Ready.'))
    create({ generate: false, input: 'Remember the number 7.' })
    const prepared = await response()
    expect(prepared).toMatchObject({ status: 'completed', output: [] })
    expect(fixture.worked.upstream.requests).toHaveLength(0)
    create({ previous_response_id: prepared.id, input: 'Which number?' })
    await response(1)
    expect(JSON.stringify(fixture.worked.upstream.requests.at(-1)?.body.messages)).toMatch(/number 7.*Which number/)
  })

  it('runs messages of one lane one after another, and lanes side by side', async () => {
    const { create, events, response } = connect()
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    fixture.worked.upstream.play(({ body }) => (JSON.stringify(body.messages).includes('slow') ? { ...say('Slow.'), gate } : say('Fast.')))
    create({ input: 'slow', stream_id: 'a' })
    create({ input: 'after it', stream_id: 'a' })
    const lanes = (type: string) => events.flatMap((event) => (event.type === type && 'stream_id' in event ? [event.stream_id] : []))
    await expect.poll(() => lanes('response.created'), { timeout: 10_000 }).toEqual(['a'])
    create({ input: 'beside it', stream_id: 'b' })
    expect((await response()).output).toMatchObject([{ content: [{ text: 'Fast.' }] }])
    // The second message of the lane waits, although it was sent before that of the other lane.
    const created = lanes('response.created')
    open()
    expect(created).toEqual(['a', 'b'])
    await response(2)
    expect(lanes('response.completed')).toEqual(['b', 'a', 'a'])
  })

  it.each([
    [{ model: 'missing' }, 404, 'model_not_found'],
    [{ input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }, 400, 'invalid_request'],
    [{ background: true }, 400, 'invalid_request'],
    [{ previous_response_id: 'resp_x' }, 400, 'previous_response_not_found'],
  ] satisfies [Create, number, string][])('receives an error event for %j, and the connection stays', async (fields, status, code) => {
    const { create, refusal, response, errors } = connect()
    create({ ...fields, stream_id: 'lane' })
    expect(await refusal()).toMatchObject({ type: 'error', status, stream_id: 'lane', error: { code, type: 'invalid_request_error' } })
    expect(errors).toHaveLength(1)
    inOrder(say('Still here.'))
    create()
    expect((await response()).status).toBe('completed')
  })

  it('receives an error when it tries to change a response that runs', async () => {
    const { socket, events } = connect()
    socket.send({ type: 'response.steer', previous_response_id: 'resp_x', input: 'Stop' })
    await expect
      .poll(() => events)
      .toMatchObject([
        {
          type: 'response.steer.failed',
          error: { code: 'steering_not_supported' },
          steer: { input: 'Stop', previous_response_id: 'resp_x' },
        },
      ])
  })
})

describe('a connection', () => {
  it.each(['{', '[]', '{"type": "response.delete"}', '{"type": "response.create", "stream_id": ""}', '"x"'])(
    'stays open after the message %s',
    async (text) => {
      const { socket } = await handshake()
      socket.send(text)
      const [data] = (await once(socket, 'message')) as [Buffer]
      expect(JSON.parse(data.toString())).toMatchObject({ type: 'error', status: 400, error: { type: 'invalid_request_error' } })
      expect(socket.readyState).toBe(WebSocket.OPEN)
    },
  )

  it('ends after a message that is too long, and after a binary one', async () => {
    const long = await handshake()
    long.socket.send(`{"type":"response.create","input":"${'x'.repeat(10 * 1024 * 1024)}"}`)
    expect((await once(long.socket, 'close'))[0]).toBe(1009)
    const binary = await handshake()
    binary.socket.send(Buffer.from([1, 2, 3]))
    expect((await once(binary.socket, 'close'))[0]).toBe(1003)
  })

  it('refuses more messages than may wait', async () => {
    const { socket } = await handshake()
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    fixture.worked.upstream.play(() => ({ ...say('Late.'), gate }))
    const messages: { readonly type: string; readonly error?: { readonly code: string } }[] = []
    socket.on('message', (data: Buffer) => void messages.push(JSON.parse(data.toString())))
    for (let count = 0; count < 17; count += 1) socket.send(JSON.stringify({ type: 'response.create', model: 'scripted', input: 'x' }))
    await expect
      .poll(() => messages.filter(({ type }) => type === 'error'), { timeout: 10_000 })
      .toMatchObject([{ error: { code: 'too_many_queued' } }])
    open()
  })

  it('ends with its key', async () => {
    const key = await fixture.worked.api.newKey()
    const { socket } = await handshake({ key: key.key })
    await fixture.worked.api.table.tenants.revokeKey(key.keyId, Date.now())
    fixture.worked.api.skew += 60_000
    socket.send(JSON.stringify({ type: 'response.create', model: 'scripted', input: 'x' }))
    expect((await once(socket, 'close'))[0]).toBe(1008)
    fixture.worked.api.skew -= 60_000
  })
})

describe('the longest time of a connection', () => {
  /** A connection without a network: the messages that its client receives, and why it was closed. */
  function connectFor(lifetimeMs: number) {
    const { api } = fixture.worked
    const received: ResponsesServerEvent[] = []
    const closed: number[] = []
    const socket = new ResponsesSocket({
      fetch: (request) => fetch(request),
      sockets: new SocketAdmissions(1),
      handshake: new Request(`${api.url}/v1/responses`, { headers: { authorization: `Bearer ${api.owner.key}` } }),
      peer: {
        send: async (text) => void received.push(JSON.parse(String(text)) as ResponsesServerEvent),
        close: (code) => void closed.push(code),
      },
      admission: new Admission(() => undefined, { lease: requestPool(1024).lease(api.owner.tenant), countRefused: async () => undefined }),
      lifetimeMs,
    })
    opened.push({ close: () => socket.end() })
    const send = (message: unknown) => void socket.receive(Buffer.from(JSON.stringify(message)))
    return { received, closed, send }
  }
  const limitReached = { type: 'error', status: 400, error: { code: 'websocket_connection_limit_reached' } }

  it('closes an idle connection with an error that says so', async () => {
    const { received, closed } = connectFor(1)
    await expect.poll(() => closed, { timeout: 10_000 }).toEqual([1000])
    expect(received).toMatchObject([limitReached])
  })

  it('lets a response end, and takes no further message', async () => {
    const { received, closed, send } = connectFor(1)
    inOrder(say('Whole.'))
    send({ type: 'response.create', model: 'scripted', input: 'x' })
    await expect.poll(() => received[0]?.type, { timeout: 10_000 }).toBe('response.created')
    send({ type: 'response.create', model: 'scripted', input: 'y' })
    await expect.poll(() => closed, { timeout: 10_000 }).toEqual([1000])
    expect(received.filter(({ type }) => type === 'response.completed')).toHaveLength(1)
    expect(received.filter(({ type }) => type === 'error')).toMatchObject([limitReached, limitReached])
  })
})

describe('a deployment without WebSockets', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await startApi({ hasWebSockets: false })
  })
  afterAll(() => api.stop())

  it('answers a handshake with 426', async () => {
    const refused = await handshake({ url: api.url, key: api.owner.key })
    expect(refused).toMatchObject({
      status: 426,
      body: { error: { code: 'upgrade_required', message: expect.stringContaining('"stream": true') } },
    })
  })
})

describe('a handshake', () => {
  it.each([
    ['without a key', { key: null }, 401, 'invalid_api_key'],
    ['of a page of another site', { headers: { origin: 'https://example.com' } }, 403, 'origin_not_allowed'],
    ['that a browser sends for another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'origin_not_allowed'],
  ])('%s is refused as a request is', async (_, options, status, code) => {
    expect(await handshake(options)).toMatchObject({ status, body: { error: { code } } })
  })

  it('of a key without the scope is refused', async () => {
    const { key } = await fixture.worked.api.newKey({ scopes: ['read'] })
    expect(await handshake({ key })).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } })
  })

  it("above the tenant's limit is refused, until another connection ends", async () => {
    const { api } = fixture.worked
    const { key, tenant } = await api.newKey()
    await api.table.tenants.create({ v: 1, id: tenant, name: 'limited', createdAt: Date.now(), policy: { limits: { openStreams: 1 } } })
    const first = await handshake({ key })
    expect(first.status).toBe(101)
    expect(await handshake({ key })).toMatchObject({ status: 429, body: { error: { code: 'too_many_streams' } } })
    expect((await handshake()).status).toBe(101)
    first.socket.close()
    await expect.poll(async () => (await handshake({ key })).status, { timeout: 10_000 }).toBe(101)
  })

  it('is distinguished from a plain request', async () => {
    const plain = await fixture.worked.api.fetch('/v1/responses')
    expect(plain.status).toBe(426)
    expect(await plain.json()).toMatchObject({
      error: { code: 'upgrade_required', message: expect.stringContaining('POST /v1/responses') },
    })
  })
})
