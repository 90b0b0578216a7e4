import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createStreamHandler, type StreamingHandler } from '../../../../services/http/function-url/stream-handler.ts'
import { provideLambdaRuntime, startFunctionUrl, type FunctionUrl } from '../../../support/function-url.ts'

const run = promisify(execFile)
/** A client that waits longer has met an answer that does not end. */
const ENDS_WITHIN_MS = 5_000

type Fetch = (request: Request) => Response | Promise<Response>
const started: FunctionUrl[] = []
beforeAll(() => {
  vi.stubGlobal('awslambda', undefined)
  provideLambdaRuntime()
})
afterEach(() => Promise.all(started.splice(0).map((url) => url.stop())))
afterAll(() => void vi.unstubAllGlobals())

async function serve(answer: Fetch): Promise<FunctionUrl> {
  const url = await startFunctionUrl(createStreamHandler(answer))
  started.push(url)
  return url
}
const ask = async (answer: Fetch, init: RequestInit = {}, path = '/'): Promise<Response> => {
  const { url } = await serve(answer)
  return fetch(`${url}${path}`, { redirect: 'manual', signal: AbortSignal.timeout(ENDS_WITHIN_MS), ...init })
}

const streamOf = (parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> =>
  Readable.toWeb(Readable.from(parts)) as ReadableStream<Uint8Array>

describe('an answer without a body ends', () => {
  it.each([
    [202, '\n'],
    [302, '\n'],
    [307, '\n'],
    [404, '\n'],
    [499, '\n'],
  ])('for status %i, with a newline', async (status, text) => {
    const answer = await ask(() => new Response(null, { status, headers: { location: '/elsewhere' } }), { method: 'POST' })
    expect([answer.status, answer.headers.get('location'), await answer.text()]).toEqual([status, '/elsewhere', text])
  })

  it.each([204, 205])('for status %i, as 200 with an empty object', async (status) => {
    const answer = await ask(() => new Response(null, { status }), { method: 'DELETE' })
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'application/json', '{}'])
  })

  it('for status 304', async () => {
    const answer = await ask(() => new Response(null, { status: 304, headers: { etag: '"1"' } }))
    expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([304, '"1"', ''])
  })

  it('for HEAD, with the headers of the body that GET would have', async () => {
    const headers = { 'content-type': 'text/csv', 'content-length': '17' }
    const answer = await ask(() => new Response(null, { headers }), { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'text/csv', ''])
    expect(answer.headers.get('x-amzn-remapped-content-length')).toBe('17')
  })

  it('for a body of no bytes: a client that decodes gzip reads none, another one a newline', async () => {
    const empty: Fetch = () =>
      new Response(new Blob([]).stream(), { headers: { 'content-type': 'application/octet-stream', 'content-length': '0' } })
    const answer = await ask(empty)
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 0])
    expect(answer.headers.get('x-amzn-remapped-content-length')).toBeNull()
    for (const encoding of ['identity', 'gzip;q=0'])
      expect(await (await ask(empty, { headers: { 'accept-encoding': encoding } })).text()).toBe('\n')
  })

  it('for curl, which follows a redirect and asks with HEAD and OPTIONS', async () => {
    const { url } = await serve(({ url: asked, method }) => {
      if (new URL(asked).pathname === '/file') return new Response(method === 'HEAD' ? null : 'the bytes')
      return method === 'OPTIONS'
        ? new Response(null, { status: 204 })
        : new Response(null, { status: 302, headers: { location: '/file' } })
    })
    const curl = async (...args: readonly string[]): Promise<string> =>
      (await run('curl', ['--silent', '--show-error', '--max-time', '5', ...args])).stdout
    expect(await curl('--location', `${url}/link`)).toBe('the bytes')
    expect(await curl('--head', '--location', '--write-out', '%{http_code}', '--output', '/dev/null', `${url}/link`)).toBe('200')
    expect(await curl('--request', 'OPTIONS', '--write-out', '%{http_code}', '--output', '/dev/null', `${url}/`)).toBe('200')
  })
})

describe('an answer with a body', () => {
  it('arrives in parts, with its head before the first, and without empty chunks', async () => {
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const answer = await ask(() => {
      const headers = new Headers({ 'content-type': 'text/event-stream' })
      headers.append('set-cookie', 'a=1')
      headers.append('set-cookie', 'b=2')
      async function* events() {
        yield new Uint8Array()
        yield Buffer.from('data: 1\n\n')
        await finished
        yield new TextEncoder().encode('data: 2\n\n')
      }
      return new Response(streamOf(events()), { status: 201, headers })
    })
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([201, ['a=1', 'b=2']])
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe('data: 1\n\n')
    finish()
    expect((await reader?.read())?.value).toBe('data: 2\n\n')
    expect((await reader?.read())?.done).toBe(true)
  })

  it('of many megabytes is whole', async () => {
    const part = new Uint8Array(1_000_000).fill(7)
    const answer = await ask(() => new Response(streamOf(Array.from({ length: 20 }, () => part))))
    expect((await answer.arrayBuffer()).byteLength).toBe(20_000_000)
  })

  it('that fails in mid-stream ends as an incomplete one, not with an added text', async () => {
    let fail: () => void = () => undefined
    const failed = new Promise<void>((resolve) => (fail = resolve))
    const answer = await ask(() => {
      async function* events() {
        yield new TextEncoder().encode('data: 1\n\n')
        await failed
        throw new Error('the table did not answer')
      }
      return new Response(streamOf(events()))
    })
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe('data: 1\n\n')
    fail()
    await expect(reader?.read()).rejects.toThrow('terminated')
  })

  it('that fails before its first byte is a failed invocation', async () => {
    const body = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('the store did not answer')) })
    expect((await ask(() => new Response(body))).status).toBe(502)
  })

  it('is read to its end after the client has left, because Lambda does not report that', async () => {
    let isAborted = false
    let hasEnded = false
    const { url } = await serve(({ signal }) => {
      signal.addEventListener('abort', () => (isAborted = true))
      async function* events() {
        for (let number = 0; number < 50; number++) yield new TextEncoder().encode('x'.repeat(100_000))
        hasEnded = true
      }
      return new Response(streamOf(events()))
    })
    const asked = send(url).end()
    const [answer] = (await once(asked, 'response')) as [NodeJS.ReadableStream]
    await once(answer, 'readable')
    asked.destroy()
    await expect.poll(() => hasEnded).toBe(true)
    expect(isAborted).toBe(false)
  })
})

describe('the request of an event', () => {
  it('has method, path, query, headers, cookies and the bytes of the body', async () => {
    let got: Record<string, unknown> = {}
    await ask(
      async (request) => {
        const { method, url, headers } = request
        const bytes = [...new Uint8Array(await request.arrayBuffer())]
        const cookie = headers.get('cookie')
        got = {
          method,
          path: url.replace(/^https:\/\/[^/]+/, ''),
          cookie,
          type: headers.get('content-type'),
          length: headers.get('content-length'),
          bytes,
        }
        return new Response('ok')
      },
      { method: 'PUT', body: new Uint8Array([0, 255]), headers: { cookie: 'a=1; b=2', 'content-type': 'application/x-bytes' } },
      '/v1/a%2Fb?x=1&x=%20',
    )
    expect(got).toEqual({
      method: 'PUT',
      path: '/v1/a%2Fb?x=1&x=%20',
      cookie: 'a=1; b=2',
      type: 'application/x-bytes',
      length: '2',
      bytes: [0, 255],
    })
  })
})

describe('the stand-in of the function URL', () => {
  const empty: StreamingHandler = async (_, stream) => {
    stream.write(new Uint8Array())
    await new Promise<void>((resolve) => void stream.end(resolve))
  }
  const outcome = async (options: { readonly endsEmptyAnswers: boolean }, method: string): Promise<string> => {
    const url = await startFunctionUrl(empty, options)
    started.push(url)
    const asked = fetch(url.url, { method, signal: AbortSignal.timeout(1_000) })
    return asked
      .then((answer) => answer.text())
      .then(
        () => 'ends',
        (error: Error) => error.name,
      )
  }

  it('cuts an answer above the maximum of AWS, although its status was 200', async () => {
    const url = await startFunctionUrl(
      createStreamHandler(() => new Response(new Uint8Array(4_096))),
      { maxAnswerBytes: 1_024 },
    )
    started.push(url)
    const read = fetch(url.url).then((answer) => answer.arrayBuffer())
    await expect(read).rejects.toThrow()
  })

  it('never ends an answer without a byte, unless it stands for an account that does', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      expect(await outcome({ endsEmptyAnswers: false }, method), method).toBe('TimeoutError')
      expect(await outcome({ endsEmptyAnswers: true }, method), method).toBe('ends')
    }
  })
})
