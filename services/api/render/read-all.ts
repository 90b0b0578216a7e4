import type { ByteStream } from '../../core/ports/object-store.ts'

export async function readAll(body: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
