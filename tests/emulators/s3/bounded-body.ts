import { S3Error } from './s3-error.ts'

/** The chunks of a body. Throws S3Error EntityTooLarge when there are more bytes. */
export async function* boundedBody(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let total = 0
  for await (const chunk of body) {
    total += chunk.byteLength
    if (total > maxBytes) throw new S3Error('EntityTooLarge', `The body is larger than ${maxBytes} bytes.`)
    yield chunk
  }
}
