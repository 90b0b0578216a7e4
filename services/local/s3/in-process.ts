import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { HttpHandler } from './handler.ts'

/** What the SDK's clients give to their request handler, and what they expect of it. */
interface WireRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | readonly string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable
}
interface WireResponse {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
}
interface SendOptions {
  readonly abortSignal?: AbortSignal
}

/** How much of a body waits between the two sides, bytes. */
const WINDOW_BYTES = 256 * 1024

/** The way to an S3 handler in this same process. */
export interface S3InProcess {
  /** From now on the client's requests, signed as ever, come without a socket, and the bytes of bodies as they are. */
  connect(client: S3Client): void
  /** Cuts what runs, as a server does that closes its connections, and refuses what comes later. */
  close(): void
}

export function createS3InProcess(serve: HttpHandler): S3InProcess {
  const running = new Set<Readable>()
  let isClosed = false

  const handle = (request: WireRequest, { abortSignal }: SendOptions = {}): Promise<{ readonly response: WireResponse }> =>
    new Promise((resolve, reject) => {
      abortSignal?.throwIfAborted()
      if (isClosed) throw new Error('The local object store is closed.')
      const incoming = toIncoming(request)
      const response = new Outgoing((statusCode, headers) => resolve({ response: { statusCode, headers, body: response } }))
      const onAbort = (): void => void response.destroy(abortSignal?.reason as Error)
      abortSignal?.addEventListener('abort', onAbort)
      running.add(response)
      response.on('error', reject)
      response.once('close', () => {
        running.delete(response)
        abortSignal?.removeEventListener('abort', onAbort)
        // The sender of a body that was not wanted to its end learns it here.
        if (!response.writableFinished) incoming.destroy()
        reject(new Error('The local object store closed the connection.'))
      })
      serve(incoming as unknown as IncomingMessage, response as unknown as ServerResponse)
    })

  return {
    connect: (client) => {
      Object.assign(client.config, { requestHandler: { handle, destroy: () => undefined, metadata: { handlerProtocol: 'http/1.1' } } })
    },
    close: () => {
      isClosed = true
      for (const response of running) response.destroy(new Error('The local object store is closed.'))
    },
  }
}

/** What the handler reads of a request. `complete` says whether the whole body came. */
function toIncoming({ method, path, query, headers, body }: WireRequest): Readable & { complete: boolean } {
  async function* parts(): AsyncGenerator<Uint8Array> {
    if (body instanceof Readable) yield* body as AsyncIterable<Uint8Array>
    else if (body !== undefined && body.length > 0) yield Buffer.from(body as Uint8Array)
    incoming.complete = true
  }
  const incoming = Object.assign(Readable.from(parts(), { objectMode: false, highWaterMark: WINDOW_BYTES }), {
    method,
    url: path + toQuery(query),
    headers,
    complete: false,
  })
  return incoming
}

function toQuery(query: WireRequest['query']): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values]
      .flat()
      .map((value) => (value === null ? encodeURIComponent(name) : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)),
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** What the handler calls on a response. Its other end is the body that the client reads. */
class Outgoing extends PassThrough {
  headersSent = false
  readonly #headers: Record<string, string> = {}
  readonly #begin: (statusCode: number, headers: Readonly<Record<string, string>>) => void

  constructor(begin: (statusCode: number, headers: Readonly<Record<string, string>>) => void) {
    super({ highWaterMark: WINDOW_BYTES })
    this.#begin = begin
  }

  setHeader(name: string, value: string | number): this {
    this.#headers[name.toLowerCase()] = String(value)
    return this
  }

  getHeader(name: string): string | undefined {
    return this.#headers[name.toLowerCase()]
  }

  writeHead(statusCode: number, headers: Readonly<Record<string, string | number>> = {}): this {
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value)
    this.headersSent = true
    this.#begin(statusCode, this.#headers)
    return this
  }
}
