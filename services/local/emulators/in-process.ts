import { EventEmitter } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Transport, TransportRequest } from '../../storage/clients.ts'

/**
 * Carries the requests of an SDK client to an HTTP server in this same process, without a socket, a parser or a connection pool between them.
 * Client and server are the real ones and neither can tell. An aborted request rejects at once; the server ends it by itself, as it
 * does with one whose connection broke. For JSON protocols: bodies are whole on both sides.
 */
export function createInProcessTransport(serve: RequestListener): Transport {
  return {
    handle: (request, options) =>
      new Promise((resolve, reject) => {
        const signal = options?.abortSignal instanceof AbortSignal ? options.abortSignal : null
        const onAbort = (): void => reject(Object.assign(new Error('The request was aborted.'), { name: 'AbortError' }))
        if (signal?.aborted === true) return onAbort()
        signal?.addEventListener('abort', onAbort)
        const response = new InProcessResponse((body) => {
          signal?.removeEventListener('abort', onAbort)
          resolve({ response: { statusCode: response.statusCode, headers: response.headers, body } })
        })
        serve(requestFrom(request) as IncomingMessage, response as unknown as ServerResponse)
      }),
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  }
}

/** A readable stream with the few fields that JSON servers read of a request. */
function requestFrom({ method, path, headers, body }: TransportRequest): unknown {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const stream = new Readable({
    read() {
      if (bytes !== undefined) this.push(bytes)
      this.push(null)
    },
  })
  return Object.assign(stream, { method, url: path, headers: lowerCased(headers) })
}

/** HTTP names headers in any case, Node's servers read them in lower case. */
const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> => {
  const lower: Record<string, string> = {}
  for (const name in headers) lower[name.toLowerCase()] = headers[name] as string
  return lower
}

type HeaderValue = string | number | readonly string[]

/** What JSON servers call on a response; `ended` gets the body once. */
class InProcessResponse extends EventEmitter {
  statusCode = 200
  headersSent = false
  writableEnded = false
  readonly headers: Record<string, string> = {}
  readonly #ended: (body: Uint8Array) => void
  readonly #parts: Buffer[] = []

  constructor(ended: (body: Uint8Array) => void) {
    super()
    this.#ended = ended
  }

  setHeader(name: string, value: HeaderValue): this {
    this.headers[name.toLowerCase()] = String(value)
    return this
  }

  getHeader(name: string): string | undefined {
    return this.headers[name.toLowerCase()]
  }

  getHeaders(): Readonly<Record<string, string>> {
    return this.headers
  }

  hasHeader(name: string): boolean {
    return name.toLowerCase() in this.headers
  }

  removeHeader(name: string): void {
    delete this.headers[name.toLowerCase()]
  }

  writeHead(statusCode: number, headers: Readonly<Record<string, HeaderValue>> = {}): this {
    this.statusCode = statusCode
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value)
    this.headersSent = true
    return this
  }

  write(chunk: string | Uint8Array): boolean {
    this.headersSent = true
    this.#parts.push(Buffer.from(chunk))
    return true
  }

  end(chunk?: string | Uint8Array | null): this {
    if (this.writableEnded) return this
    if (chunk !== undefined && chunk !== null) this.write(chunk)
    this.headersSent = true
    this.writableEnded = true
    this.#ended(this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts))
    this.emit('finish')
    return this
  }
}
