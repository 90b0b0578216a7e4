import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished, PassThrough, Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { createS3Service } from './handler.ts'

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
  /** Cuts what runs, as a server does that closes its connections, and refuses what comes later. Afterwards nothing touches the objects any more. */
  close(): Promise<void>
}

export function createS3InProcess(serve: ReturnType<typeof createS3Service>): S3InProcess {
  const running = new Set<Readable>()
  const serving = new Set<Promise<void>>()
  let isClosed = false

  const handle = (request: WireRequest, { abortSignal }: SendOptions = {}): Promise<{ readonly response: WireResponse }> =>
    new Promise((resolve, reject) => {
      abortSignal?.throwIfAborted()
      if (isClosed) throw new Error('The local object store is closed.')
      const incoming = new Incoming(request)
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
      const served = serve(incoming as unknown as IncomingMessage, response as unknown as ServerResponse)
      serving.add(served)
      void served.then(() => serving.delete(served))
    })

  return {
    connect: (client) => {
      Object.assign(client.config, { requestHandler: { handle, destroy: () => undefined, metadata: { handlerProtocol: 'http/1.1' } } })
    },
    async close() {
      isClosed = true
      for (const response of running) response.destroy(new Error('The local object store is closed.'))
      await Promise.all(serving)
    },
  }
}

/** What the handler reads of a request. */
class Incoming extends Readable {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Whether the whole body came. */
  complete = false
  readonly #body: Readable

  constructor({ method, path, query, headers, body }: WireRequest) {
    super({ highWaterMark: WINDOW_BYTES })
    this.method = method
    this.url = path + toQuery(query)
    this.headers = headers
    this.#body =
      body instanceof Readable ? body : Readable.from(body === undefined || body.length === 0 ? [] : [Buffer.from(body as Uint8Array)])
    this.#body.on('data', (part: Uint8Array) => {
      if (!this.push(part)) this.#body.pause()
    })
    this.#body.once('end', () => {
      this.complete = true
      this.push(null)
    })
    finished(this.#body, (error) => error && this.destroy(error))
    // As with a connection: who does not read any more need not hear that it broke.
    this.on('error', () => undefined)
  }

  override _read(): void {
    this.#body.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#body.destroy()
    callback(error)
  }
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
