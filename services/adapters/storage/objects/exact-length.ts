import type { ByteStream } from '../../../model/byte-stream.ts'

/** Passes the body on and throws when it has more or fewer bytes than announced. */
export async function* exactLength(body: ByteStream, bytes: number): AsyncGenerator<Uint8Array> {
  let received = 0
  for await (const chunk of body) {
    received += chunk.byteLength
    if (received > bytes) throw new Error(`The object body is longer than the promised ${bytes} bytes.`)
    yield chunk
  }
  if (received < bytes) throw new Error(`The object body has ${received} of the promised ${bytes} bytes.`)
}
