import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isStorageFull } from '../../../services/model/storage-full.ts'
import { authenticate, type S3Credentials, type S3Request } from './authenticate.ts'
import { createMultipartUploads } from './multipart.ts'
import type { ObjectFolder } from './bucket-folder.ts'
import { OPERATIONS, operationOf } from './operations.ts'
import { S3Error } from './s3-error.ts'
import { queryPairs } from './sigv4.ts'
import { renderXml } from './xml.ts'

export type HttpHandler = (incoming: IncomingMessage, response: ServerResponse) => void

export interface S3HandlerOptions {
  readonly folder: ObjectFolder
  readonly credentials: S3Credentials
  readonly region: string
  readonly now?: () => number
  /** Hears of faults that are not the caller's. */
  readonly onError?: (error: unknown) => void
}

const MAX_KEY_BYTES = 1024
/** How long a refused sender may continue to send before its connection is cut, milliseconds. */
const DRAIN_MS = 2_000

/**
 * The part of S3 that Cellblock uses, over a folder: path-style, every request signed with Signature Version 4 in its headers or its query.
 * Bodies stream both ways. Errors are S3's XML errors.
 */
export function createS3Handler(options: S3HandlerOptions): HttpHandler {
  const { folder, credentials, region, now = Date.now, onError = () => undefined } = options
  const uploads = createMultipartUploads(folder)

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = readRequest(incoming)
    const payloadHash = authenticate(request, { credentials, region, now: now() })
    const { bucket, key } = splitPath(request.rawPath)
    const name = operationOf(request, key)
    if (name === null) throw new S3Error('NotImplemented', 'This local store does not know the operation.')
    await OPERATIONS[name]({ request, bucket, key, payloadHash, folder, uploads, incoming, response })
  }

  return (incoming, response) => {
    response.setHeader('x-amz-request-id', randomBytes(8).toString('hex').toUpperCase())
    void handle(incoming, response).catch((error: unknown) => {
      if (!(error instanceof S3Error) && !isGone(incoming, response)) onError(error)
      refuse(incoming, response, error)
    })
  }
}

function readRequest(incoming: IncomingMessage): S3Request {
  const { method = '', url = '', headers } = incoming
  const [rawPath = '', ...query] = url.split('?')
  const rawQuery = query.join('?')
  try {
    decodeURIComponent(rawPath)
    return {
      method,
      rawPath,
      rawQuery,
      query: new Map(queryPairs(rawQuery)),
      headers: new Map(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : (value ?? '')])),
    }
  } catch {
    throw new S3Error('InvalidRequest', 'The address is not valid percent-encoding.')
  }
}

function splitPath(rawPath: string): { readonly bucket: string; readonly key: string } {
  const [bucket = '', ...key] = rawPath.slice(1).split('/')
  const decodedKey = decodeURIComponent(key.join('/'))
  if (Buffer.byteLength(decodedKey) > MAX_KEY_BYTES) throw new S3Error('KeyTooLongError', `A key has at most ${MAX_KEY_BYTES} bytes.`)
  return { bucket: decodeURIComponent(bucket), key: decodedKey }
}

/** The other side went away in the middle. */
const isGone = (incoming: IncomingMessage, response: ServerResponse): boolean =>
  (incoming.destroyed && !incoming.complete) || response.destroyed

const faultOf = (error: unknown): S3Error =>
  isStorageFull(error)
    ? new S3Error('InsufficientStorage', 'No space left on device: free space on the disk that holds the objects.')
    : new S3Error('InternalError', 'The local store failed. Its log says why.')

function refuse(incoming: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const refusal = error instanceof S3Error ? error : faultOf(error)
  const body = renderXml('Error', {
    Code: refusal.code,
    Message: refusal.message,
    RequestId: String(response.getHeader('x-amz-request-id')),
  })
  if (!incoming.complete) {
    // Reading on lets the sender see the answer; a sender that does not stop is cut off.
    response.setHeader('connection', 'close')
    incoming.resume()
    const cut = setTimeout(() => incoming.destroy(), DRAIN_MS)
    incoming.once('close', () => clearTimeout(cut))
  }
  response.writeHead(refusal.status, { 'content-type': 'application/xml', 'x-content-type-options': 'nosniff' })
  response.end(incoming.method === 'HEAD' ? undefined : body)
}
