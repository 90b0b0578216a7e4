import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOpenAiChat } from '../../../services/adapters/models/openai-chat.ts'
import type { EndpointFetchOptions } from '../../../services/adapters/models/endpoint-fetch.ts'
import { ModelError, type ChatModel, type ModelDelta, type ModelRequest } from '../../../services/ports/chat-model.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown
const answers: Answer[] = []
const seen: { readonly request: IncomingMessage; readonly body: Record<string, unknown> }[] = []
const server = createServer((request, response) => {
  void request.toArray().then((chunks) => {
    seen.push({ request, body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> })
    return answers.shift()?.(response, request)
  })
})
let base: string
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const REQUEST: ModelRequest = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  toolChoice: 'none',
  temperature: null,
  topP: null,
  maxOutputTokens: null,
  parallelToolCalls: true,
  responseFormat: null,
  reasoningEffort: null,
  verbosity: null,
  fencesCode: false,
}
const never = new AbortController().signal
const chunk = (content: unknown): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`
const DONE = 'data: [DONE]\n\n'
const stream =
  (...parts: readonly (string | Uint8Array)[]): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) await new Promise((resolve) => response.write(part, resolve))
    response.end()
  }
const refuse =
  (status: number, body: string, headers: Readonly<Record<string, string>> = { 'retry-after-ms': '1' }): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

interface Asked {
  readonly request?: Partial<ModelRequest>
  readonly options?: EndpointFetchOptions
  readonly path?: string
  readonly apiKey?: string | null
}

/** The deltas of one call when the server gives these answers. */
async function askWith({ request = {}, options = {}, path = '/v1/', apiKey = 'sk-1' }: Asked, ...script: readonly Answer[]) {
  answers.splice(0, Infinity, ...script)
  seen.length = 0
  return read(createOpenAiChat({ baseUrl: `${base}${path}`, apiKey }, options), request)
}
async function read(model: ChatModel, request: Partial<ModelRequest> = {}): Promise<readonly ModelDelta[]> {
  const deltas: ModelDelta[] = []
  for await (const delta of model.stream({ ...REQUEST, ...request }, never)) deltas.push(delta)
  return deltas
}
const ask = (...script: readonly Answer[]) => askWith({}, ...script)
const text = (value: string): ModelDelta => ({ type: 'text', text: value })

describe('the request to a model endpoint', () => {
  it('goes to the path below the base URL, with the key', async () => {
    expect(await ask(stream(chunk('Hello'), DONE))).toEqual([text('Hello')])
    expect(seen[0]?.request).toMatchObject({ method: 'POST', url: '/v1/chat/completions' })
    expect(seen[0]?.request.headers).toMatchObject({ authorization: 'Bearer sk-1', 'content-type': 'application/json' })
    expect(seen[0]?.body).toMatchObject({ model: 'm', stream: true, stream_options: { include_usage: true } })
  })

  it('keeps the query of the base URL', async () => {
    await askWith({ path: '/openai?api-version=2' }, stream(DONE))
    expect(seen[0]?.request.url).toBe('/openai/chat/completions?api-version=2')
  })

  it('has no authorization header without a key, and never the organization of another endpoint', async () => {
    process.env['OPENAI_ORG_ID'] = 'org-1'
    process.env['OPENAI_PROJECT_ID'] = 'proj-1'
    try {
      await askWith({ apiKey: null }, stream(DONE))
    } finally {
      delete process.env['OPENAI_ORG_ID']
      delete process.env['OPENAI_PROJECT_ID']
    }
    const { headers } = seen[0]?.request ?? {}
    expect([headers?.authorization, headers?.['openai-organization'], headers?.['openai-project']]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('does not follow a redirect', async () => {
    const elsewhere = stream(chunk('from elsewhere'), DONE)
    await expect(ask(refuse(307, '', { location: `${base}/v2` }), elsewhere)).rejects.toMatchObject({ status: 307 })
    expect(seen).toHaveLength(1)
  })
})

describe('the answer of a model endpoint', () => {
  it('may be cut anywhere, use any line ends and leave out [DONE]', async () => {
    const bytes = Buffer.from(`: hello\r\n\r\n${chunk('Grüße 🎉').replaceAll('\n', '\r\n')}event: ping\r\ndata: {"choices":[]}\r\n\r\n`)
    expect(await ask(stream(...[...bytes].map((byte) => Uint8Array.of(byte))))).toEqual([text('Grüße 🎉')])
  })

  it('is not read after [DONE], and its connection is used again', async () => {
    const model = createOpenAiChat({ baseUrl: base, apiKey: null })
    const sockets = new Set<unknown>()
    for (let round = 0; round < 3; round++) {
      const ended = Promise.withResolvers<void>()
      answers.splice(0, Infinity, async (response, request) => {
        sockets.add(request.socket)
        await stream(`${chunk('a')}${DONE}`, chunk('late'))(response, request)
        ended.resolve()
      })
      const deltas: ModelDelta[] = []
      for await (const delta of model.stream(REQUEST, never)) deltas.push(delta)
      expect(deltas).toEqual([text('a')])
      await ended.promise
      // The rest of the answer is read in the background.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sockets.size).toBeLessThan(3)
  })

  it('reads text from a list of parts', async () => {
    const parts = [
      { type: 'thinking', thinking: [] },
      { type: 'text', text: 'Hello' },
    ]
    expect(await ask(stream(chunk(parts), DONE))).toEqual([text('Hello')])
  })

  it.each(['reasoning_content', 'reasoning'])('reads what the model thinks from %s', async (field) => {
    const thought = `data: ${JSON.stringify({ choices: [{ delta: { [field]: 'Hm.' } }] })}\n\n`
    expect(await ask(stream(thought, chunk('Hello'), DONE))).toEqual([{ type: 'reasoning', text: 'Hm.' }, text('Hello')])
  })

  it.each([
    ['null', 'data: null\n\n'],
    ['a number', 'data: 7\n\n'],
    ['content of another type', chunk({ text: 'x' })],
    ['choices of another type', 'data: {"choices":"x"}\n\n'],
    ['a call of another type', 'data: {"choices":[{"delta":{"tool_calls":[null, 7]}}]}\n\n'],
    ['usage of another type', 'data: {"choices":[],"usage":[1]}\n\n'],
  ])('ignores %s', async (_, odd) => {
    const deltas = await ask(stream(odd, chunk('Hello'), DONE))
    expect(deltas.filter((delta) => delta.type === 'text')).toEqual([text('Hello')])
  })

  it('keeps a tool call of which one field has another type', async () => {
    const call = { index: 'first', id: 7, function: { name: 'python', arguments: '{}' } }
    expect(await ask(stream(`data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [call] } }] })}\n\n`, DONE))).toEqual([
      { type: 'tool_call', index: 0, id: null, name: 'python', arguments: '{}' },
    ])
  })

  it('counts no token that is not a number from 0 up', async () => {
    const usage = { prompt_tokens: -5, completion_tokens: '7', prompt_tokens_details: { cached_tokens: 1.5 } }
    expect(await ask(stream(`data: ${JSON.stringify({ usage })}\n\n`, DONE))).toEqual([
      { type: 'usage', inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    ])
  })

  it('ends with an error when it is longer than the limit', async () => {
    const long = stream(chunk('a'), ...Array.from({ length: 100 }, () => `data: ${'x'.repeat(1_000)}`))
    const reading = askWith({ options: { maxAnswerBytes: 10_000 } }, long)
    await expect(reading).rejects.toMatchObject({ name: 'ModelError', retryable: false, message: expect.stringContaining('too long') })
  })

  it.each(["Node's own dispatcher", 'the dispatcher of the undici package'])(
    'ends with an error that can be retried when the endpoint stays silent for longer than the limit, with %s',
    async (which) => {
      if (which !== "Node's own dispatcher") setGlobalDispatcher(new Agent())
      const silent: Answer = (response) => response.write(chunk('a'))
      const reading = askWith({ options: { maxSilenceMs: 50 } }, silent)
      await expect(reading).rejects.toMatchObject({ name: 'ModelError', retryable: true, status: null })
      expect(await ask(stream(chunk('a'), DONE))).toEqual([text('a')])
    },
  )
})

describe('a failed request to a model endpoint', () => {
  it('is repeated when the connection breaks before the answer', async () => {
    expect(await ask((response) => response.destroy(), stream(chunk('a'), DONE))).toEqual([text('a')])
  })

  it('is not repeated when the connection breaks inside the answer', async () => {
    const half: Answer = async (response) => {
      await new Promise((resolve) => response.write(chunk('a'), resolve))
      response.destroy()
    }
    await expect(ask(half, stream(chunk('b'), DONE))).rejects.toMatchObject({ name: 'ModelError', retryable: true, status: null })
    expect(seen).toHaveLength(1)
  })

  it.each([408, 409, 429, 500, 503])('is repeated twice after status %i', async (status) => {
    await expect(ask(refuse(status, '{}'), refuse(status, '{}'), refuse(status, '{}'), stream(DONE))).rejects.toMatchObject({ status })
    expect(seen).toHaveLength(3)
  })

  it.each([
    [400, {}, 1],
    [400, { 'x-should-retry': 'true' }, 2],
    [500, { 'x-should-retry': 'false' }, 1],
  ])('with status %i and headers %o is sent %i times', async (status, headers, times) => {
    await ask(refuse(status, '{}', { 'retry-after-ms': '1', ...headers }), stream(DONE)).catch(() => undefined)
    expect(seen).toHaveLength(times)
  })

  it.each([
    ['retry-after', '0.3'],
    ['retry-after-ms', '300'],
  ])('is repeated after the time that %s names', async (name, value) => {
    const began = performance.now()
    await ask(refuse(503, '{}', { [name]: value }), stream(DONE))
    expect(performance.now() - began).toBeGreaterThan(290)
  })

  it.each([
    ['{"error":{"message":"too long","code":"context_length_exceeded"}}', { tooLong: { window: null } }],
    ['{"object":"error","message":"maximum context length is 4096 tokens","code":400}', { tooLong: { window: 4_096 } }],
    ['{"detail":"prompt is too long"}', { tooLong: { window: null } }],
    ['input is too long', { tooLong: { window: null } }],
    ['{"error":"model not found"}', { tooLong: null }],
    ['<html>Bad</html>', { tooLong: null }],
  ])('is understood in the form %s', async (body, expected) => {
    const refusal = await ask(refuse(400, body)).catch((cause: unknown) => cause)
    expect(refusal).toBeInstanceOf(ModelError)
    expect(refusal).toMatchObject({ status: 400, retryable: false, ...expected })
  })

  it('is understood inside an answer', async () => {
    const busy = 'data: {"error":{"message":"busy","code":"overloaded"}}\n\n'
    await expect(ask(stream(chunk('a'), busy))).rejects.toMatchObject({ status: null, retryable: true })
    await expect(ask(stream('event: error\ndata: {"message":"late"}\n\n'))).rejects.toMatchObject({ status: null, retryable: true })
  })

  it('never shows a key to the user', async () => {
    const body = '{"error":{"message":"Incorrect API key provided: sk-1. Prompt: Hi"}}'
    const refusal = await ask(refuse(401, body)).catch((cause: unknown) => cause)
    expect((refusal as Error).message).toBe('The model endpoint rejected its key. The operator has to check the key.')
    const echoed = await ask(refuse(400, '{"error":{"message":"Bad header Bearer sk-1 or sk-proj-abcdef123"}}')).catch(
      (cause: unknown) => cause,
    )
    expect((echoed as Error).message).toContain('Bad header Bearer [key] or [key].')
  })
})

describe('a parameter that the model does not support', () => {
  const rejected = (param: string | null, message: string, code: string | null = null): Answer =>
    refuse(400, JSON.stringify({ error: { message, param, code } }))

  it.each([
    [
      'temperature',
      { temperature: 0.2 },
      rejected('temperature', "Unsupported value: 'temperature' does not support 0.2.", 'unsupported_value'),
    ],
    ['top_p', { topP: 0.5 }, rejected(null, 'top_p is not supported by this model')],
    ['reasoning.effort', { reasoningEffort: 'low' }, rejected(null, 'Unrecognized request argument supplied: reasoning_effort')],
    ['text.verbosity', { verbosity: 'low' }, rejected(null, 'verbosity: Extra inputs are not permitted')],
  ])('%s is left out, reported, and left out of later requests', async (name, request, refusal) => {
    answers.splice(0, Infinity, refusal, stream(chunk('a'), DONE), stream(chunk('b'), DONE))
    seen.length = 0
    const model = createOpenAiChat({ baseUrl: `${base}/v1`, apiKey: null })
    const dropped: ModelDelta = { type: 'dropped_parameters', names: [name] }
    expect(await read(model, request)).toEqual([dropped, text('a')])
    expect(await read(model, request)).toEqual([dropped, text('b')])
    const sent = { temperature: 'temperature', top_p: 'top_p', 'reasoning.effort': 'reasoning_effort', 'text.verbosity': 'verbosity' }[name]
    expect(seen.map(({ body }) => String(sent) in body)).toEqual([true, false, false])
  })

  it('stream_options is left out without a report, because the caller did not ask for it', async () => {
    expect(await ask(rejected(null, 'Unknown field: stream_options'), stream(chunk('a'), DONE))).toEqual([text('a')])
  })

  it('max_tokens is sent by its other name', async () => {
    const refusal = rejected(
      'max_tokens',
      "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
      'unsupported_parameter',
    )
    expect(await askWith({ request: { maxOutputTokens: 50 } }, refusal, stream(chunk('a'), DONE))).toEqual([text('a')])
    expect(seen.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']])).toEqual([
      [50, undefined],
      [undefined, 50],
    ])
  })

  it('that the model is known to reject is not sent at all, and reported', async () => {
    const request = { model: 'o4-mini', temperature: 0.2, parallelToolCalls: false }
    expect(await askWith({ request }, stream(DONE))).toEqual([{ type: 'dropped_parameters', names: ['temperature'] }])
    expect(seen[0]?.body).not.toHaveProperty('temperature')
  })

  it.each([
    ['a value out of range', rejected('temperature', 'temperature must be at most 2', 'invalid_value')],
    ['a parameter that was not sent', rejected('top_k', 'top_k is not supported', 'unsupported_parameter')],
    ['the schema of the answer', rejected('response_format', 'schema is not valid', 'invalid_json_schema')],
  ])('is not assumed when the error is about %s: the error has the sentence of the endpoint', async (_, refusal) => {
    const asking = askWith({ request: { temperature: 3, responseFormat: { type: 'json_object' } } }, refusal)
    await expect(asking).rejects.toThrow(/rejected the request with status 400: \w+ (?:must be|is not)/)
    expect(seen).toHaveLength(1)
  })

  it('is replaced when it is the form of the answer: by the JSON mode, then by instructions', async () => {
    const responseFormat = { type: 'json_schema', json_schema: { name: 'one', schema: { type: 'object', title: 'One' } } }
    const rejections = [
      rejected(null, "Input should be 'text' or 'json_object'; response_format"),
      rejected('response_format.type', 'unavailable'),
    ]
    expect(await askWith({ request: { responseFormat } }, ...rejections, stream(chunk('a'), DONE))).toEqual([text('a')])
    expect(seen.map(({ body }) => body['response_format'])).toEqual([responseFormat, { type: 'json_object' }, undefined])
    expect(JSON.stringify(seen[2]?.body['messages'])).toContain('One')
  })

  it('stops removing parameters after a bounded number of rejections', async () => {
    const everything = { temperature: 1, topP: 1, reasoningEffort: 'low', verbosity: 'low', maxOutputTokens: 5 } as const
    const names = ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'reasoning_effort', 'verbosity', 'stream_options']
    const script = Array.from({ length: 50 }, () => rejected(null, `${names.join(', ')} are not supported`))
    await expect(askWith({ request: everything }, ...script)).rejects.toMatchObject({ status: 400 })
    expect(seen.length).toBeLessThan(10)
  })
})

describe('a call of a model that is no longer wanted', () => {
  it('closes the connection and throws the reason when its signal fires', async () => {
    const stop = new AbortController()
    const closed = Promise.withResolvers<void>()
    answers.splice(0, Infinity, (response) => {
      response.once('close', () => closed.resolve())
      response.write(chunk('a'))
    })
    const reading = (async () => {
      const model = createOpenAiChat({ baseUrl: base, apiKey: null })
      for await (const _ of model.stream(REQUEST, stop.signal)) stop.abort(new Error('enough'))
    })()
    await expect(reading).rejects.toThrow('enough')
    await closed.promise
  })

  it('closes the connection when its reader leaves in the middle', async () => {
    const closed = Promise.withResolvers<void>()
    answers.splice(0, Infinity, (response) => {
      response.once('close', () => closed.resolve())
      response.write(chunk('a'))
    })
    for await (const _ of createOpenAiChat({ baseUrl: base, apiKey: null }).stream(REQUEST, never)) break
    await closed.promise
  })

  it('does not wait for a retry', async () => {
    const stop = new AbortController()
    answers.splice(0, Infinity, (response, request) => {
      void refuse(503, '{}', { 'retry-after': '30' })(response, request)
      response.once('close', () => stop.abort(new Error('enough')))
    })
    const reading = (async () => {
      for await (const _ of createOpenAiChat({ baseUrl: base, apiKey: null }).stream(REQUEST, stop.signal));
    })()
    await expect(reading).rejects.toThrow('enough')
  })
})
