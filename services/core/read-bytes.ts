import type { ByteStream } from './ports/object-store.ts'

/** The whole of a stream in memory: only for what is known to be small enough. */
export async function readBytes(body: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
