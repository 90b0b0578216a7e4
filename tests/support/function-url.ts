import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import type { ResponseHead, StreamingHandler } from '../../services/http/function-url/stream-handler.ts'

export interface FunctionUrl {
  readonly url: string
  /** Invocations whose answer has not ended. */
  readonly open: number
  stop(): Promise<void>
}

interface FunctionUrlOptions {
  readonly port?: number
  /** Whether an answer ends although the function has written no byte of a body. In many accounts it never does. */
  readonly endsEmptyAnswers?: boolean
  /** AWS cuts a longer answer; default 200 MB. */
  readonly maxAnswerBytes?: number
}

/** Lambda's runtime provides this to a function. Call it before a handler is created. */
export function provideLambdaRuntime(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: (handler: StreamingHandler) => handler,
      HttpResponseStream: {
        from(stream: AnswerStream, head: ResponseHead) {
          stream.head = head
          return stream
        },
      },
    },
  })
}

/**
 * Serves a handler as a function URL with response streaming does, as far as AWS documents it or its users have reported: one event of format 2.0 per
 * request, the head with the first write, each part of the answer at once. An answer without a byte never ends, and one of more than 200 MB is cut. A client that disconnects is not
 * reported. A handler that fails ends the answer as an incomplete one.
 */
export async function startFunctionUrl(handler: StreamingHandler, options: FunctionUrlOptions = {}): Promise<FunctionUrl> {
  let open = 0
  const server = createServer((asked, answer) => {
    open++
    answer.once('close', () => open--)
    const stream = new AnswerStream(answer, {
      endsEmpty: options.endsEmptyAnswers ?? false,
      maxBytes: options.maxAnswerBytes ?? 200 * 1024 * 1024,
    })
    void eventOf(asked)
      .then((event) => handler(event, stream))
      .catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`)
        if (stream.hasBegun) answer.destroy()
        else answer.writeHead(502, { 'content-type': 'application/json' }).end('{"Message":"Internal Server Error"}')
      })
  }).listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get open() {
      return open
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** What a function writes to. */
class AnswerStream extends Writable {
  /** Null: the function has named none, so the answer is 200 with bytes. */
  head: ResponseHead | null = null
  hasBegun = false
  readonly #answer: ServerResponse
  readonly #endsEmpty: boolean
  readonly #maxBytes: number
  #bytes = 0

  constructor(answer: ServerResponse, { endsEmpty, maxBytes }: { readonly endsEmpty: boolean; readonly maxBytes: number }) {
    super()
    this.#answer = answer
    this.#endsEmpty = endsEmpty
    this.#maxBytes = maxBytes
  }

  override write(chunk: unknown, ...rest: never[]): boolean {
    // To HEAD the head is the whole answer, and a distribution passes it on when the function's answer has ended.
    if ((chunk as string | Uint8Array).length > 0 || !this.#isHeadOnly) this.#begin()
    // The runtime takes texts, Buffers and plain Uint8Arrays, and sends everything else as JSON.
    const isBytes = typeof chunk === 'string' || Buffer.isBuffer(chunk) || (chunk as object).constructor === Uint8Array
    return super.write(isBytes ? chunk : JSON.stringify(chunk), ...rest)
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    if (chunk.length === 0) return done()
    this.#bytes += chunk.length
    if (this.#bytes > this.#maxBytes) this.#answer.destroy()
    // The client has left, and the function does not learn it.
    if (this.#answer.destroyed) return done()
    if (this.#answer.write(chunk)) return done()
    const resume = (): void => {
      this.#answer.off('drain', resume).off('close', resume)
      done()
    }
    this.#answer.on('drain', resume).on('close', resume)
  }

  override _final(done: () => void): void {
    if (this.#bytes > 0 || this.#endsEmpty) {
      this.#begin()
      this.#answer.end()
    }
    done()
  }

  get #isHeadOnly(): boolean {
    return this.#answer.req.method === 'HEAD' || this.head?.statusCode === 204 || this.head?.statusCode === 304
  }

  #begin(): void {
    if (this.hasBegun || this.#answer.destroyed) return
    this.hasBegun = true
    const { statusCode, headers, cookies } = this.head ?? {
      statusCode: 200,
      headers: { 'content-type': 'application/octet-stream' },
      cookies: [],
    }
    const named = Object.entries(headers).map(([name, value]) => [
      name === 'content-length' ? 'x-amzn-remapped-content-length' : name,
      value,
    ])
    this.#answer.writeHead(statusCode, { ...Object.fromEntries(named), ...(cookies.length > 0 && { 'set-cookie': [...cookies] }) })
    this.#answer.flushHeaders()
  }
}

async function eventOf(asked: IncomingMessage): Promise<Parameters<StreamingHandler>[0]> {
  const chunks: Buffer[] = []
  for await (const chunk of asked) chunks.push(chunk as Buffer)
  const url = new URL(asked.url ?? '/', 'http://function')
  const { cookie, ...others } = asked.headers
  const headers = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]))
  return {
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers,
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    requestContext: { http: { method: asked.method ?? 'GET' }, domainName: headers['host'] ?? 'function' },
    ...(chunks.length > 0 && { body: Buffer.concat(chunks).toString('base64') }),
    isBase64Encoded: true,
  }
}
