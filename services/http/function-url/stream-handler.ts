import { once, type EventEmitter } from 'node:events'
import { newId } from '../../model/ids.ts'
import { ServiceError } from '../../model/errors.ts'
import { errorResponse } from '../error-response.ts'
import { gzipSync } from 'node:zlib'
import { hasDotSegments } from '../dot-segments.ts'

/** Lambda's stream of an answer, as far as it is used here. */
export interface ResponseStream extends EventEmitter {
  write(chunk: Uint8Array): boolean
  end(callback: () => void): unknown
}

/** What Lambda sends before the first byte of the body. */
export interface ResponseHead {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]
}
export type StreamingHandler = (event: FunctionUrlEvent, stream: ResponseStream) => Promise<void>

/** Lambda's runtime for Node provides this. */
declare const awslambda: {
  readonly streamifyResponse: (handler: StreamingHandler) => StreamingHandler
  readonly HttpResponseStream: { from(stream: ResponseStream, head: ResponseHead): ResponseStream }
}

/**
 * The handler of a function URL with response streaming. Lambda does not report that a client has disconnected: the request's signal never aborts, and
 * the answer is read to its end.
 */
export const createStreamHandler = (fetch: (request: Request) => Response | Promise<Response>): StreamingHandler =>
  awslambda.streamifyResponse(async (event, stream) => {
    const request = readRequest(event)
    if (request instanceof Response) return send(new Request('https://invalid/'), request, stream)
    return send(request, await fetch(request), stream)
  })

function readRequest(event: FunctionUrlEvent): Request | Response {
  try {
    return requestFromEvent(event)
  } catch (cause) {
    const refusal = new ServiceError('invalid_request', 'The address or a header of the request is not valid HTTP.', { cause })
    return errorResponse(refusal, newId('request'))
  }
}

/**
 * Sends the answer. Rejects when its body fails: Lambda then reports the error behind the bytes that were sent and does not end the answer as a complete
 * one. So the stream must not be ended or destroyed here.
 */
async function send(request: Request, response: Response, stream: ResponseStream): Promise<void> {
  const reader = response.body?.getReader()
  const next = async (): Promise<Uint8Array | null> => {
    // An empty chunk would send the head and no byte.
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) if (read.value.length > 0) return read.value
    return null
  }
  try {
    const first = await next()
    if (first === null) return await end(sendEmpty(request, response, stream))
    const open = awslambda.HttpResponseStream.from(stream, headOf(response))
    for (let chunk: Uint8Array | null = first; chunk !== null; chunk = await next()) if (!open.write(chunk)) await once(open, 'drain')
    await end(open)
  } catch (error) {
    await reader?.cancel(error).catch(() => undefined)
    throw error
  }
}

function sendEmpty(request: Request, response: Response, stream: ResponseStream): ResponseStream {
  const { status, headers, bytes } = substituteEmptyAnswer(request, response.status)
  const head = headOf(response)
  // HEAD states the length of the body that GET would have.
  const { 'content-length': length, ...kept } = head.headers
  const given = request.method === 'HEAD' && length !== undefined ? { ...kept, 'content-length': length } : kept
  const open = awslambda.HttpResponseStream.from(stream, { ...head, statusCode: status, headers: { ...given, ...headers } })
  open.write(bytes)
  return open
}

/** Resolves when Lambda has the whole answer. */
const end = (stream: ResponseStream): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.once('error', reject)
    stream.end(resolve)
  })

function headOf({ status, headers: given }: Response): ResponseHead {
  const headers = Object.fromEntries([...given].filter(([name]) => name !== 'set-cookie'))
  return { statusCode: status, headers, cookies: given.getSetCookie() }
}

/** What is sent instead of an answer without a body. */
interface SubstituteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

const NEWLINE = new TextEncoder().encode('\n')
const EMPTY_OBJECT = new TextEncoder().encode('{}')
/** 20 bytes that a client decodes to none. */
const GZIP_OF_NOTHING = Uint8Array.from(gzipSync(new Uint8Array()))

/**
 * Streaming function URLs never end an answer without a byte in many accounts: the client waits until the distribution gives up, and the function is
 * billed until its time-out. So every answer gets bytes that its readers ignore. A status that permits no body becomes 200 with an empty JSON object,
 * which clients of another product accept like their 204; they would fail to parse a newline. An empty file is sent in gzip, so that it stays empty.
 */
function substituteEmptyAnswer(request: Request, status: number): SubstituteAnswer {
  if (status === 204 || status === 205) return { status: 200, headers: { 'content-type': 'application/json' }, bytes: EMPTY_OBJECT }
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(request.headers.get('accept-encoding') ?? '')
  if (request.method === 'GET' && status === 200 && acceptsGzip)
    return { status, headers: { 'content-encoding': 'gzip' }, bytes: GZIP_OF_NOTHING }
  return { status, headers: {}, bytes: NEWLINE }
}

/** The part of a function URL's event (payload format 2.0) that the API reads. */
interface FunctionUrlEvent {
  readonly rawPath: string
  readonly rawQueryString?: string
  /** Values of a repeated header are joined with commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly cookies?: readonly string[]
  readonly requestContext: { readonly domainName?: string; readonly http: { readonly method: string } }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

/** The request of an event. Throws a TypeError when HTTP does not permit a part of it, and for a path with dot segments. */
function requestFromEvent(event: FunctionUrlEvent): Request {
  if (hasDotSegments(event.rawPath)) throw new TypeError('The path has a dot segment.')
  const { method } = event.requestContext.http
  const query = event.rawQueryString ? `?${event.rawQueryString}` : ''
  const headers = new Headers()
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined && value !== '') headers.set(name, asAscii(value))
  if (event.cookies !== undefined) headers.set('cookie', event.cookies.join('; '))
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(event)
  if (body !== undefined) headers.set('content-length', String(body.length))
  // An emulated account names no domain.
  const host = event.requestContext.domainName ?? headers.get('host') ?? 'localhost'
  return new Request(`https://${host}${event.rawPath}${query}`, { method, headers, ...(body && { body }) })
}

function bodyOf({ body, isBase64Encoded }: FunctionUrlEvent): Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined || body === '') return undefined
  return Uint8Array.from(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'))
}

/** A header of a Request takes no other characters. */
const asAscii = (value: string): string => (/^[\x20-\x7e\t]*$/.test(value) ? value : encodeURIComponent(value))
