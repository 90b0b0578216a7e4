import { gunzipSync } from 'node:zlib'
import type * as z from 'zod'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { MESSAGE } from '../../model/scan-json.ts'
import { parseJson } from '../../http/parse-json.ts'
import { mediaType, readBody } from '../../http/read-body.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { streamCall } from '../../http/stream-call.ts'
import { validate } from '../../http/validate.ts'
import { PROCEDURES } from './messages.ts'
import { decodeMessage, encodeMessage } from './protobuf.ts'
import { rpcError } from './errors.ts'
import { e2bRoute } from './routing.ts'

/** Unpacked body of a call, bytes. */
const MAX_BODY_BYTES = LIMITS.maxJsonBytes
const HEADER_BYTES = 5
const COMPRESSED = 1
const END_OF_STREAM = 2

/** The two encodings of Connect's messages. */
interface Codec {
  readonly decode: (bytes: Uint8Array) => unknown
  readonly encode: (message: Readonly<Record<string, unknown>>) => Buffer
}

const JSON_CODEC: Codec = { decode: (bytes) => parseJson(bytes, MESSAGE), encode: (message) => Buffer.from(JSON.stringify(message)) }

/** The codec of a request by its content type, `prefix` and `json` or `proto`. Throws ServiceError `unsupported_media_type`. */
function codecOf(request: Request, prefix: string, path: string): { readonly codec: Codec; readonly contentType: string } {
  const contentType = mediaType(request)
  if (contentType === `${prefix}json`) return { codec: JSON_CODEC, contentType }
  const types = PROCEDURES[path]
  if (contentType !== `${prefix}proto` || types === undefined)
    throw new ServiceError('unsupported_media_type', `Send this call as ${prefix}json or ${prefix}proto.`)
  const codec: Codec = {
    decode: (bytes) => decodeMessage(types.request, bytes),
    encode: (message) => encodeMessage(types.response, message),
  }
  return { codec, contentType }
}

const streamHeaders = (contentType: string) => ({ 'content-type': contentType, 'cache-control': 'no-store', 'x-accel-buffering': 'no' })

/** One message of a stream: flags, length, message. */
function frame(body: Buffer, flags = 0): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(flags)
  header.writeUInt32BE(body.length, 1)
  return Buffer.concat([header, body])
}

function unpack(bytes: Uint8Array, isCompressed: boolean): Uint8Array {
  if (!isCompressed) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BODY_BYTES })
  } catch (cause) {
    throw new ServiceError(
      'invalid_request',
      `The compressed message is malformed or larger than ${MAX_BODY_BYTES} bytes. Send it without compression, or in several calls.`,
      { cause },
    )
  }
}

/** The last message of a stream is JSON in both encodings. */
const lastFrame = (value: Readonly<Record<string, unknown>>): Uint8Array => frame(Buffer.from(JSON.stringify(value)), END_OF_STREAM)

/** The one message in the body of a call that answers with a stream. */
function messageIn(body: Uint8Array, codec: Codec): unknown {
  const bytes = Buffer.from(body)
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(1) !== bytes.length - HEADER_BYTES)
    throw new ServiceError(
      'invalid_request',
      'The body is not exactly one message of the Connect protocol. Send one frame: a flag byte, the length in four bytes, the message.',
    )
  return codec.decode(unpack(bytes.subarray(HEADER_BYTES), (bytes.readUInt8() & COMPRESSED) !== 0))
}

type Messages = AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined>

interface Procedure<Body> {
  readonly path: string
  readonly scope: Scope
  readonly body: () => z.ZodType<Body>
}

/** A remote procedure with one answer. */
export const unary = <Body>(
  { path, scope, body }: Procedure<Body>,
  handle: (call: Call, body: Body) => Promise<Readonly<Record<string, unknown>>>,
): AnyRoute => {
  const schema = lazySchema(body)
  return e2bRoute({
    plane: 'rpc',
    method: 'post',
    path,
    scope,
    body: schema,
    handle: async (call) => {
      const { codec, contentType } = codecOf(call.request, 'application/', path)
      const bytes = unpack(await readBody(call.request, MAX_BODY_BYTES), call.request.headers.get('content-encoding') === 'gzip')
      const value = bytes.byteLength === 0 ? {} : codec.decode(bytes)
      const answer = codec.encode(await handle(call, validate(schema(), value, 'body')))
      return new Response(new Uint8Array(answer), { headers: { 'content-type': contentType } })
    },
  })
}

/**
 * A remote procedure that answers with a stream. `open` starts the work; it and the messages may throw ServiceError, which ends the stream with
 * that error, as the protocol has it.
 */
export const serverStream = <Body>(
  { path, scope, body }: Procedure<Body>,
  open: (call: Call, body: Body) => Promise<(signal: AbortSignal) => Messages>,
): AnyRoute => {
  const schema = lazySchema(body)
  return e2bRoute({
    plane: 'rpc',
    method: 'post',
    path,
    scope,
    body: schema,
    handle: async (call) => {
      let headers = streamHeaders('application/connect+json')
      try {
        const { codec, contentType } = codecOf(call.request, 'application/connect+', path)
        headers = streamHeaders(contentType)
        const message = validate(schema(), messageIn(await readBody(call.request, MAX_BODY_BYTES), codec), 'body')
        return await streamCall(call, async () => frames(await open(call, message), codec), headers)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        call.note('code', error.code)
        return new Response(Buffer.from(lastFrame({ error: rpcError(error) })), { headers })
      }
    },
  })
}

const frames = (messages: (signal: AbortSignal) => Messages, codec: Codec) =>
  async function* framed(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const message of messages(signal)) yield frame(codec.encode(message))
      yield lastFrame({})
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      yield lastFrame({ error: rpcError(error) })
    }
  }
