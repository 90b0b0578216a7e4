import { EventEmitter } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SQSClient } from '@aws-sdk/client-sqs'
import type { Operation as DirectOperation, Refusal } from './direct-operations.ts'

/** What a JSON server gets of a request. The emulators check no signature, but want to see one. */
const HEADERS = {
  authorization: 'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/local/aws4_request, SignedHeaders=host, Signature=none',
  'x-amz-date': '20260101T000000Z',
  host: 'localhost',
}

/** The part of an SDK's protocol that is used here: how a command becomes a request, and a response what it answers or throws. */
interface Protocol {
  serializeRequest(operation: Operation, input: unknown, context: unknown): Promise<WireRequest>
  deserializeResponse(operation: Operation, context: unknown, response: WireResponse): Promise<unknown>
}
interface Operation {
  readonly namespace: string
  readonly name: string
  readonly traits: unknown
  readonly input: unknown
  readonly output: unknown
}
interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}
interface WireResponse {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array
}
interface Command {
  readonly input: object
  readonly schema?: readonly [kind: unknown, namespace: string, name: string, traits: unknown, input: unknown, output: unknown]
}
interface SendOptions {
  readonly abortSignal?: AbortSignal
}

/**
 * From now on the client's commands go to an HTTP server in this same process, without a socket, a parser or a connection pool between them. The
 * client writes requests and reads answers as ever and the server is the real one; what the SDK does between (endpoints, signatures, tries,
 * and for each of them copies of its configuration) has no meaning here. An aborted command rejects at once; the server ends it by itself, as it
 * does with one whose connection broke. For JSON protocols: bodies are whole on both sides. `direct` has operations that need no request at all, and
 * are too short to be aborted once they have begun.
 */
export function connectInProcess(
  client: DynamoDBClient | SQSClient,
  serve: RequestListener,
  direct: ReadonlyMap<string, DirectOperation> = new Map(),
): void {
  const protocol = client.config.protocol as Protocol
  const endpoint = { protocol: 'http:', hostname: 'localhost', path: '/' }
  const context = { ...client.config, endpoint: async () => endpoint }
  const operations = new Map<unknown, Operation>()

  const operationOf = ({ schema, constructor }: Command): Operation => {
    const known = operations.get(schema)
    if (known !== undefined) return known
    if (schema === undefined) throw new Error(`The SDK's ${constructor.name} has no schema, so it cannot be sent inside this process.`)
    const [, namespace, name, traits, input, output] = schema
    const operation = { namespace, name, traits, input, output }
    operations.set(schema, operation)
    return operation
  }
  const send = async (command: Command, { abortSignal }: SendOptions = {}): Promise<unknown> => {
    const operation = operationOf(command)
    const ask = direct.get(operation.name)
    if (ask !== undefined) {
      abortSignal?.throwIfAborted()
      return ask(command.input).catch((refusal: Refusal) => protocol.deserializeResponse(operation, context, toResponse(refusal)))
    }
    const request = await protocol.serializeRequest(operation, command.input, context)
    return protocol.deserializeResponse(operation, context, await exchange(serve, request, abortSignal))
  }
  Object.assign(client, { send })
}

const toResponse = ({ statusCode, body }: Refusal): WireResponse => ({ statusCode, headers: {}, body: Buffer.from(JSON.stringify(body)) })

function exchange(serve: RequestListener, request: WireRequest, signal?: AbortSignal): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(Object.assign(new Error('The request was aborted.'), { name: 'AbortError' }))
    if (signal?.aborted === true) return onAbort()
    signal?.addEventListener('abort', onAbort)
    const response = new InProcessResponse((body) => {
      signal?.removeEventListener('abort', onAbort)
      resolve({ statusCode: response.statusCode, headers: response.headers, body })
    })
    serve(new InProcessRequest(request) as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
}

/** What JSON servers call on a request and read of it. Its body comes, whole, once somebody waits for its end. */
class InProcessRequest extends EventEmitter {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly #body: Buffer | undefined

  constructor({ method, path, headers, body }: WireRequest) {
    super()
    this.method = method
    this.url = path
    this.headers = { ...HEADERS, ...headers }
    this.#body = toBuffer(body)
  }

  override on(event: string, listener: (...args: unknown[]) => void): this {
    super.on(event, listener)
    if (event === 'end')
      process.nextTick(() => {
        if (this.#body !== undefined) this.emit('data', this.#body)
        this.emit('end')
      })
    return this
  }

  resume(): this {
    return this
  }
}

function toBuffer(body: string | Uint8Array | undefined): Buffer | undefined {
  if (typeof body === 'string') return Buffer.from(body)
  return body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
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
