import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { isStorageFull } from '../../../model/storage-full.ts'
import { exactLength } from '../objects/exact-length.ts'
import { ObjectExistsError, type ObjectFolder } from './object-folder.ts'
import { OBJECTS_PATH, verifyLink, type LinkClaims, type LinkRefusal } from './signed-link.ts'

export type HttpHandler = (incoming: IncomingMessage, response: ServerResponse) => void

type GetClaims = Extract<LinkClaims, { readonly method: 'GET' }>
type PutClaims = Extract<LinkClaims, { readonly method: 'PUT' }>

/** A refusal that the caller sees. */
class LinkError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const LINK_ERRORS: Readonly<Record<LinkRefusal, () => LinkError>> = {
  malformed: () => new LinkError(403, 'link_invalid', 'The link is not valid. Request a new link.'),
  bad_signature: () => new LinkError(403, 'link_invalid', 'The link is not valid. Request a new link.'),
  expired: () => new LinkError(403, 'link_expired', 'The link has expired. Request a new link.'),
}
/** Stored bytes come from user code: a browser must neither guess their type nor run them. */
const SAFETY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
  'referrer-policy': 'no-referrer',
} as const
/** The page trusts scripts from its own origin, where these bytes are too. With `nosniff` a browser runs no text. */
const inertType = (type: string): string => (/(?:java|ecma|j|live)script/i.test(type) ? 'text/plain; charset=utf-8' : type)
const READ_BYTES = 256 * 1024

/** Serves signed links of a folder below OBJECTS_PATH: one GET or one PUT of one object, until the link expires. */
export function createObjectHandler(options: {
  readonly folder: ObjectFolder
  readonly secret: Uint8Array
  readonly now?: () => number
  /** Receives faults that the caller did not cause. */
  readonly onError?: (error: unknown) => void
}): HttpHandler {
  const { folder, secret, now = Date.now, onError = () => undefined } = options

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '' } = incoming
    const verified = verifyLink(url.slice(OBJECTS_PATH.length + 1), secret, now())
    if ('refusal' in verified) throw LINK_ERRORS[verified.refusal]()
    const { claims } = verified
    if (claims.method !== method)
      throw new LinkError(403, 'link_invalid', `The link allows ${claims.method} requests only. Use that method.`)
    await (claims.method === 'GET'
      ? sendObject(folder, claims, { incoming, response })
      : receiveObject(folder, claims, { incoming, response }))
  }

  return (incoming, response) =>
    void serve(incoming, response).catch((error: unknown) => {
      if (refusalOf(error).status >= 500 && !isDisconnected(incoming, response)) onError(error)
      refuse(incoming, response, error)
    })
}

async function sendObject(
  folder: ObjectFolder,
  claims: GetClaims,
  { incoming, response }: { readonly incoming: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const object = await folder.open(claims.key)
  if (object === null)
    throw new LinkError(404, 'file_not_found', 'The file was deleted. List the files of its container to find the current version.')
  const { metadata, bytes, file } = object
  try {
    if (incoming.headers['if-none-match'] === metadata.etag) {
      response.writeHead(304, { etag: metadata.etag, ...SAFETY_HEADERS }).end()
      return
    }
    const range = parseRange(incoming.headers.range, bytes)
    if (range === 'unsatisfiable') throw new LinkError(416, 'range_not_satisfiable', `The file has ${bytes} bytes.`)
    const { start, end } = range ?? { start: 0, end: bytes - 1 }
    response.writeHead(range === null ? 200 : 206, {
      'content-type': inertType(claims.contentType),
      'content-disposition': claims.disposition,
      'content-length': end - start + 1,
      etag: metadata.etag,
      'last-modified': new Date(metadata.modifiedAt).toUTCString(),
      'accept-ranges': 'bytes',
      ...SAFETY_HEADERS,
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${end}/${bytes}` }),
    })
    if (bytes === 0) response.end()
    else await pipeline(file.createReadStream({ start, end, highWaterMark: READ_BYTES, autoClose: false }), response)
  } finally {
    await file.close()
  }
}

async function receiveObject(
  folder: ObjectFolder,
  claims: PutClaims,
  { incoming, response }: { readonly incoming: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { headers } = incoming
  if (headers['content-length'] !== String(claims.bytes))
    throw new LinkError(403, 'link_invalid', `The link allows a body of exactly ${claims.bytes} bytes. Send that Content-Length.`)
  if (headers['content-type'] !== claims.contentType)
    throw new LinkError(403, 'link_invalid', `The link allows the Content-Type ${claims.contentType} only. Send that header.`)
  if (headers['if-none-match'] !== '*') throw new LinkError(403, 'link_invalid', 'The header If-None-Match: * is required.')
  const body = exactLength(incoming.iterator({ destroyOnReturn: false }), claims.bytes)
  const stored = await folder.put(claims.key, body, { contentType: claims.contentType, onlyNew: true })
  response.writeHead(200, { etag: stored.etag, ...SAFETY_HEADERS }).end()
}

/** The peer closed the connection before the exchange ended. */
const isDisconnected = (incoming: IncomingMessage, response: ServerResponse): boolean =>
  (incoming.destroyed && !incoming.complete) || response.destroyed

function refusalOf(error: unknown): LinkError {
  if (error instanceof LinkError) return error
  if (error instanceof ObjectExistsError) return new LinkError(412, 'conflict', 'The file was uploaded already. A link uploads once.')
  if (isStorageFull(error)) return new LinkError(507, 'storage_full', 'The disk of the server is full. The operator has to free space.')
  return new LinkError(500, 'internal_error', 'Internal error. Retry the request.')
}

function refuse(incoming: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, code, message } = refusalOf(error)
  // The server reads what the sender still sends, so that it sees the answer.
  if (!incoming.complete) response.setHeader('connection', 'close')
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  response.writeHead(status, { 'content-type': 'application/json', ...SAFETY_HEADERS })
  response.end(incoming.method === 'HEAD' ? undefined : JSON.stringify({ error: { message, type, code, param: null } }))
}

interface ByteRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/** The bytes that a `Range` header requests; null for all bytes, also for several ranges. */
function parseRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null {
  const parts = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (parts === null) return null
  const [, from = '', to = ''] = parts
  if (from === '' && to === '') return null
  if (from !== '' && to !== '' && Number(from) > Number(to)) return null
  const range =
    from === ''
      ? { start: Math.max(0, bytes - Number(to)), end: bytes - 1 }
      : { start: Number(from), end: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) }
  return range.start > range.end ? 'unsatisfiable' : range
}
