import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { Readable } from 'node:stream'
import type { ByteStream } from '../../core/ports/object-store.ts'

/** S3 takes 10,000 parts of at least 5 MiB: this size is good for 80 GB. */
const PART_BYTES = 8 * 1024 * 1024
/** Parts in memory at the same time. */
const PARTS_AT_ONCE = 3

/** Stores a stream of unknown length. What fits one part is one request; more goes in parts, and memory holds a few of them at most. */
export async function putStream(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string; readonly contentType: string; readonly body: ByteStream },
): Promise<{ readonly bytes: number }> {
  const target = { Bucket: object.Bucket, Key: object.Key, ContentType: object.contentType }
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
    for (let chunk = head.shift(); chunk !== undefined; chunk = head.shift()) yield chunk
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      bytes += next.value.byteLength
      yield next.value
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
