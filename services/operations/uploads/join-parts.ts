import { createHash } from 'node:crypto'
import { ServiceError } from '../../model/errors.ts'
import type { ByteStream } from '../../model/byte-stream.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { UploadPart } from '../../model/files/upload.ts'

/** The parts that a client names, in that order. Throws ServiceError for a missing or repeated one. */
export function partsInOrder(parts: readonly UploadPart[], ids: readonly string[]): readonly UploadPart[] {
  const byId = new Map(parts.map((part) => [part.id, part]))
  return ids.map((id, index) => {
    const part = byId.get(id)
    byId.delete(id)
    if (part === undefined)
      throw new ServiceError(
        'invalid_request',
        `The upload has no part ${JSON.stringify(id.slice(0, 80))}, or it is named twice. Name each part once.`,
        { param: `part_ids[${index}]` },
      )
    return part
  })
}

/** Streams the parts into one object; memory does not grow with their size. Returns the hashes, in hex, of what was written. */
export async function joinParts(
  objects: ObjectStore,
  parts: readonly UploadPart[],
  { objectKey, contentType }: { readonly objectKey: string; readonly contentType: string },
): Promise<{ readonly bytes: number; readonly sha256: string; readonly md5: string }> {
  const sha256 = createHash('sha256')
  const md5 = createHash('md5')
  async function* joined(): ByteStream {
    for (const part of parts) {
      const found = await objects.get(part.objectKey)
      if (found === null) throw new Error('A part of an upload has lost its object.')
      for await (const chunk of found.body) {
        sha256.update(chunk)
        md5.update(chunk)
        yield chunk
      }
    }
  }
  const { bytes } = await objects.put(objectKey, joined(), { contentType })
  return { bytes, sha256: sha256.digest('hex'), md5: md5.digest('hex') }
}
