import type { BlobRef } from '../../core/execution.ts'
import type { ByteStream, ObjectStore } from '../../core/ports/object-store.ts'

export async function readAll(body: ByteStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** A document that was too big for its row. Throws when the object is gone: the row promised it. */
export async function loadJson(objects: Pick<ObjectStore, 'get'>, ref: BlobRef): Promise<unknown> {
  const object = await objects.get(ref.objectKey)
  if (object === null) throw new Error(`The object of a row is missing (${ref.bytes} bytes)`)
  return JSON.parse((await readAll(object.body)).toString('utf8'))
}
