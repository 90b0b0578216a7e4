import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { decodeAwsChunks } from './aws-chunks.ts'
import { S3Error } from './s3-error.ts'

export type Chunks = AsyncIterable<Uint8Array>

interface Digest {
  update(chunk: Uint8Array): void
  base64(): string
}

const hashDigest = (algorithm: string): Digest => {
  const hash = createHash(algorithm)
  return { update: (chunk) => void hash.update(chunk), base64: () => hash.digest('base64') }
}
const crc32Digest = (): Digest => {
  let value = 0
  return {
    update: (chunk) => void (value = crc32(chunk, value)),
    base64: () => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(value)
      return bytes.toString('base64')
    },
  }
}

/** Checksums that are verified; one that cannot be is refused rather than ignored. */
const DIGESTS: Readonly<Record<string, () => Digest>> = {
  'x-amz-checksum-crc32': crc32Digest,
  'x-amz-checksum-sha1': () => hashDigest('sha1'),
  'x-amz-checksum-sha256': () => hashDigest('sha256'),
  'content-md5': () => hashDigest('md5'),
}
const isChecksum = (name: string): boolean =>
  name === 'content-md5' || (name.startsWith('x-amz-checksum-') && !/-(algorithm|mode|type)$/.test(name))

/**
 * The bytes that are meant: unwrapped when the SDK sent them in chunks with a trailer, and checked as they pass. The last step of the
 * iteration throws S3Error when a promised length, hash or checksum does not hold, so nothing may be kept before it ends.
 */
export async function* verifiedBody(body: Chunks, headers: ReadonlyMap<string, string>, payloadHash: string): AsyncGenerator<Uint8Array> {
  const promised = new Map<string, string>()
  for (const [name, value] of headers) if (isChecksum(name)) promised.set(name, value)
  const trailerNames = (headers.get('x-amz-trailer') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(isChecksum)
  const digests = new Map([...promised.keys(), ...trailerNames].map((name) => [name, digestFor(name)]))
  if (/^[0-9a-f]{64}$/.test(payloadHash)) {
    promised.set('payload', Buffer.from(payloadHash, 'hex').toString('base64'))
    digests.set('payload', hashDigest('sha256'))
  } else if (payloadHash !== 'UNSIGNED-PAYLOAD' && payloadHash !== 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') {
    throw new S3Error('NotImplemented', `Bodies signed as ${payloadHash} are not supported.`)
  }

  const isChunked = payloadHash.startsWith('STREAMING-') || headers.get('content-encoding')?.includes('aws-chunked') === true
  let bytes = 0
  for await (const chunk of isChunked ? decodeAwsChunks(body, (name, value) => promised.set(name, value)) : body) {
    bytes += chunk.byteLength
    for (const digest of digests.values()) digest.update(chunk)
    yield chunk
  }

  const decodedLength = headers.get('x-amz-decoded-content-length')
  if (isChunked && decodedLength !== undefined && Number(decodedLength) !== bytes)
    throw new S3Error('IncompleteBody', 'The body has another length than the request promised.')
  for (const [name, digest] of digests) {
    const wanted = promised.get(name)
    if (wanted === undefined) throw new S3Error('InvalidRequest', `The trailer ${name} is missing.`)
    if (!isSame(digest.base64(), wanted))
      throw new S3Error(
        name === 'payload' ? 'XAmzContentSHA256Mismatch' : 'BadDigest',
        'The body is not the one that the request describes.',
      )
  }
}

function digestFor(name: string): Digest {
  const make = DIGESTS[name]
  if (make === undefined)
    throw new S3Error('NotImplemented', `The checksum ${name} is not supported; CRC32, SHA1, SHA256 and Content-MD5 are.`)
  return make()
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
