import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { Readable } from 'node:stream'
import type { ByteStream } from '../../../model/byte-stream.ts'
import { exactLength } from '../objects/exact-length.ts'

/** Size of a part. S3 accepts 10,000 parts of at least 5 MiB, so this size is sufficient for 80 GB. */
const PART_BYTES = 8 * 1024 * 1024
/** A body of known length up to this is one request; a longer one is sent in parts, each of which can be repeated. */
const MAX_ONE_REQUEST_BYTES = 128 * 1024 * 1024
/** Parts in memory at the same time. */
const PARTS_AT_ONCE = 3

/**
 * Stores a stream. A stream of known length, up to the maximum, is one request without a buffer. A stream of unknown length is one request up to the size
 * of a part; a longer one is sent in parts, and a few parts are in memory.
 */
export async function putStream(
  client: S3Client,
  object: {
    readonly Bucket: string
    readonly Key: string
    readonly contentType: string
    readonly body: ByteStream
    readonly bytes?: number | undefined
  },
): Promise<{ readonly bytes: number }> {
  const target = { Bucket: object.Bucket, Key: object.Key, ContentType: object.contentType }
  if (object.bytes !== undefined && object.bytes > PART_BYTES && object.bytes <= MAX_ONE_REQUEST_BYTES)
    return putAsItComes(client, target, { body: object.body, bytes: object.bytes })
  const source = object.body[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  let bytes = 0
  let isWhole = false
  while (!isWhole && bytes < PART_BYTES) {
    const { done, value } = await source.next()
    if (done === true) isWhole = true
    else {
      head.push(value)
      bytes += value.byteLength
    }
  }
  if (isWhole) {
    await client.send(new PutObjectCommand({ ...target, Body: Buffer.concat(head) }))
    return { bytes }
  }

  async function* everything(): AsyncGenerator<Uint8Array> {
    try {
      for (let chunk = head.shift(); chunk !== undefined; chunk = head.shift()) yield chunk
      for (let next = await source.next(); next.done !== true; next = await source.next()) {
        bytes += next.value.byteLength
        yield next.value
      }
    } finally {
      // After a failure of the store, the connection that sends the bytes must be closed.
      await source.return?.()
    }
  }
  const upload = new Upload({
    client,
    params: { ...target, Body: Readable.from(everything(), { objectMode: false, highWaterMark: PART_BYTES }) },
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
  })
  await upload.done()
  return { bytes }
}

/** One request without retries. An error of the body fails the request and is thrown to the caller. */
async function putAsItComes(
  client: S3Client,
  target: { readonly Bucket: string; readonly Key: string; readonly ContentType: string },
  { body, bytes }: { readonly body: ByteStream; readonly bytes: number },
): Promise<{ readonly bytes: number }> {
  const source = Readable.from(exactLength(body, bytes), { objectMode: false })
  const broken = new AbortController()
  source.once('error', (error) => broken.abort(error))
  try {
    await client.send(new PutObjectCommand({ ...target, Body: source, ContentLength: bytes }), { abortSignal: broken.signal })
    return { bytes }
  } catch (error) {
    throw broken.signal.aborted ? broken.signal.reason : error
  } finally {
    source.destroy()
  }
}
