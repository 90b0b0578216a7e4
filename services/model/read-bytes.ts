import type { ByteStream } from './byte-stream.ts'

/** Reads a stream into memory; only for content whose size is bounded. */
export async function readBytes(body: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
