import { once, type EventEmitter } from 'node:events'
import { newId } from '../../model/ids.ts'
import { ServiceError } from '../../model/errors.ts'
import { errorResponse } from '../error-response.ts'
import { substituteEmptyAnswer } from './empty-answer.ts'
import { requestFromEvent, type FunctionUrlEvent } from './event-request.ts'

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
