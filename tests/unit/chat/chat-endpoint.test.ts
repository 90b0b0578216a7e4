import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChatEndpoint, EndpointError } from '../../../services/chat/models/chat-endpoint.ts'
import { isRetryable, retryPause } from '../../../services/chat/models/retry-pause.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown
const answers: Answer[] = []
const seen: IncomingMessage[] = []
const server = createServer((request, response) => {
  seen.push(request)
  request.resume().once('end', () => answers.shift()?.(response, request))
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

const never = new AbortController().signal
const stream =
  (...parts: readonly (string | Uint8Array)[]): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) await new Promise((resolve) => response.write(part, resolve))
    response.end()
  }
const refuse =
  (status: number, body: string): Answer =>
  (response) =>
    response.writeHead(status, { 'retry-after-ms': '1' }).end(body)

/** What comes of one call when the server gives these answers. */
async function ask(...script: readonly Answer[]): Promise<readonly unknown[]> {
  answers.splice(0, Infinity, ...script)
  seen.length = 0
  const documents: unknown[] = []
  for await (const document of createChatEndpoint({ baseUrl: `${base}/v1/`, apiKey: 'sk-1' })({ model: 'm' }, never))
    documents.push(document)
  return documents
}

describe('a chat endpoint', () => {
  it('is asked at its path with its key', async () => {
    expect(await ask(stream('data: {"a":1}\n\ndata: [DONE]\n\n'))).toEqual([{ a: 1 }])
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v1/chat/completions' })
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer sk-1', 'content-type': 'application/json' })
  })

  it('is told no key where it wants none', async () => {
    answers.splice(0, Infinity, stream('data: [DONE]\n\n'))
    for await (const document of createChatEndpoint({ baseUrl: base, apiKey: null })({}, never)) expect(document).toBeUndefined()
    expect(seen.at(-1)?.url).toBe('/chat/completions')
    expect(seen.at(-1)?.headers['authorization']).toBeUndefined()
  })

  it('may cut its answer anywhere, write any line ends and leave out the last mark', async () => {
    const bytes = Buffer.from(': hello\r\n\r\ndata: {"text":"Grüße 🎉"}\r\n\r\nevent: ping\r\ndata: {"b":2}\r\n\r\n')
    expect(await ask(stream(...bytes.map((byte) => byte).reduce<Uint8Array[]>((all, byte) => [...all, Uint8Array.of(byte)], [])))).toEqual([
      { text: 'Grüße 🎉' },
      { b: 2 },
    ])
  })

  it('is not listened to after the last mark, and its connection is used again', async () => {
    const call = createChatEndpoint({ baseUrl: base, apiKey: null })
    const sockets = new Set<unknown>()
    for (let round = 0; round < 3; round++) {
      answers.splice(0, Infinity, (response, request) => {
        sockets.add(request.socket)
        return stream('data: {}\n\ndata: [DONE]\n\n', 'data: {"late":1}\n\n')(response, request)
      })
      const got: unknown[] = []
      for await (const document of call({}, never)) got.push(document)
      expect(got).toEqual([{}])
      // The rest of the answer is read beside.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sockets.size).toBeLessThan(3)
  })

  it('that breaks the connection before it answers is asked again', async () => {
    expect(await ask((response) => response.destroy(), stream('data: {"a":1}\n\n'))).toEqual([{ a: 1 }])
  })

  it('that breaks the connection inside its answer is not', async () => {
    const half: Answer = async (response) => {
      await new Promise((resolve) => response.write('data: {"a":1}\n\n', resolve))
      response.destroy()
    }
    await expect(ask(half, stream('data: {"b":1}\n\n'))).rejects.toThrow(expect.not.objectContaining({ name: 'EndpointError' }))
    expect(seen).toHaveLength(1)
  })

  it.each([
    ['{"error":{"message":"too long","code":"context_length_exceeded"}}', 'too long', 'context_length_exceeded'],
    ['{"error":"model not found"}', 'model not found', null],
    ['{"message":"no","code":7}', 'no', null],
    ['<html>Bad</html>', '<html>Bad</html>', null],
    ['{"detail":[1]}', '{"detail":[1]}', null],
  ])('refuses in words: %s', async (body, message, code) => {
    const refusal = await ask(refuse(400, body)).catch((cause: unknown) => cause)
    expect(refusal).toBeInstanceOf(EndpointError)
    expect(refusal).toMatchObject({ status: 400, message, code })
  })

  it('may refuse inside its answer', async () => {
    await expect(ask(stream('data: {"error":{"message":"busy","code":"overloaded"}}\n\n'))).rejects.toMatchObject({
      status: null,
      message: 'busy',
      code: 'overloaded',
    })
    await expect(ask(stream('event: error\ndata: {"message":"late"}\n\n'))).rejects.toMatchObject({ status: null, message: 'late' })
  })

  it('is let go when nobody listens any more', async () => {
    const stop = new AbortController()
    const closed = Promise.withResolvers<void>()
    answers.splice(0, Infinity, (response) => {
      response.once('close', () => closed.resolve())
      response.write('data: {}\n\n')
    })
    const listening = (async () => {
      for await (const _ of createChatEndpoint({ baseUrl: base, apiKey: null })({}, stop.signal)) stop.abort(new Error('enough'))
    })()
    await expect(listening).rejects.toThrow('enough')
    await closed.promise
  })

  it('is let go when the listener leaves in the middle', async () => {
    const closed = Promise.withResolvers<void>()
    answers.splice(0, Infinity, (response) => {
      response.once('close', () => closed.resolve())
      response.write('data: {}\n\n')
    })
    for await (const _ of createChatEndpoint({ baseUrl: base, apiKey: null })({}, never)) break
    await closed.promise
  })
})

describe('a request that failed', () => {
  it.each([
    [429, {}, true],
    [408, {}, true],
    [503, {}, true],
    [400, {}, false],
    [400, { 'x-should-retry': 'true' }, true],
    [500, { 'x-should-retry': 'false' }, false],
  ])('with status %i and %o: to be sent again is %s', (status, headers, again) => {
    expect(isRetryable(status, headers)).toBe(again)
  })

  it.each([
    [{ 'retry-after-ms': '250' }, 250],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': new Date(5_000).toUTCString() }, 4_000],
  ])('waits as long as it is told: %o', (headers, ms) => {
    expect(retryPause(headers, 1, 1_000)).toBe(ms)
  })

  it.each([{}, { 'retry-after': 'soon' }, { 'retry-after': '86400' }, { 'retry-after': new Date(0).toUTCString() }])(
    'waits longer each time where it is told nothing of use: %o',
    (headers) => {
      for (const [tries, most] of [
        [1, 500],
        [2, 1_000],
        [9, 8_000],
      ] as const) {
        const pause = retryPause(headers, tries, 1_000)
        expect(pause).toBeLessThanOrEqual(most)
        expect(pause).toBeGreaterThanOrEqual(most * 0.75)
      }
    },
  )
})
