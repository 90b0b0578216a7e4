import { pipeline } from 'node:stream/promises'
import type { Operation } from './operation.ts'
import { parseRange } from './range.ts'
import { S3Error } from './s3-error.ts'

/** Query parameters with which a signer fixes headers of the answer. */
const OVERRIDES = {
  'response-content-type': 'content-type',
  'response-content-disposition': 'content-disposition',
  'response-content-language': 'content-language',
  'response-content-encoding': 'content-encoding',
  'response-cache-control': 'cache-control',
  'response-expires': 'expires',
} as const
/** Stored bytes are untrusted: a browser may neither guess their type nor run them. */
const SAFETY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
  'referrer-policy': 'no-referrer',
} as const
const READ_BYTES = 256 * 1024

/** Streams an object, or a range of it, or for HEAD its headers only. */
export async function sendObject({ folder, bucket, key, request, response }: Operation): Promise<void> {
  const object = await folder.open(bucket, key)
  if (object === null) {
    if (!(await folder.hasBucket(bucket))) throw new S3Error('NoSuchBucket', 'The bucket does not exist.')
    throw new S3Error('NoSuchKey', 'The specified key does not exist.')
  }
  try {
    const { metadata, bytes, file } = object
    const range = parseRange(request.headers.get('range'), bytes)
    const { start, end } = range ?? { start: 0, end: bytes - 1 }
    const headers: Record<string, string | number> = {
      'content-type': metadata.contentType,
      'content-length': end - start + 1,
      etag: metadata.etag,
      'last-modified': new Date(metadata.modifiedAt).toUTCString(),
      'accept-ranges': 'bytes',
      ...SAFETY_HEADERS,
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${end}/${bytes}` }),
    }
    for (const [parameter, header] of Object.entries(OVERRIDES)) {
      const value = request.query.get(parameter)
      if (value !== undefined) headers[header] = headerText(value)
    }
    response.writeHead(range === null ? 200 : 206, headers)
    if (request.method === 'HEAD' || bytes === 0) response.end()
    else await pipeline(file.createReadStream({ start, end, highWaterMark: READ_BYTES, autoClose: false }), response)
  } finally {
    await object.file.close()
  }
}

function headerText(value: string): string {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new S3Error('InvalidArgument', 'A header of the answer may have printable ASCII characters only.')
  return value
}
