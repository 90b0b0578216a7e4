import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { unlink, writeFile } from 'node:fs/promises'
import { ignoreMissing } from '../../../services/adapters/storage/files/object-file.ts'
import { boundedBody } from './bounded-body.ts'
import type { ObjectFolder, StoredObject } from './bucket-folder.ts'
import { S3Error } from './s3-error.ts'

interface Part {
  readonly etag: string
  readonly path: string
}
interface Upload {
  readonly bucket: string
  readonly key: string
  readonly contentType: string
  readonly parts: Map<number, Part>
}

/** Uploads in parts. They are known to this process only: after a restart the sender begins again, and the parts are removed. */
export interface MultipartUploads {
  create(bucket: string, key: string, contentType: string): string
  putPart(uploadId: string, partNumber: number, body: AsyncIterable<Uint8Array>): Promise<{ readonly etag: string }>
  complete(uploadId: string, parts: readonly { readonly partNumber: number; readonly etag: string }[]): Promise<StoredObject>
  abort(uploadId: string): Promise<void>
  /** Throws S3Error NoSuchUpload unless the upload is one of this bucket and key. */
  check(uploadId: string, bucket: string, key: string): void
}

const MAX_PART_BYTES = 5 * 1024 ** 3
const READ_BYTES = 1024 * 1024

export function createMultipartUploads(folder: ObjectFolder): MultipartUploads {
  const uploads = new Map<string, Upload>()
  const uploadOf = (uploadId: string): Upload => {
    const upload = uploads.get(uploadId)
    if (upload === undefined) throw new S3Error('NoSuchUpload', 'The upload does not exist, or has been completed or aborted.')
    return upload
  }
  const removeParts = async (upload: Upload): Promise<void> => {
    await Promise.all([...upload.parts.values()].map((part) => unlink(part.path).catch(ignoreMissing)))
  }

  return {
    create(bucket, key, contentType) {
      const uploadId = randomBytes(24).toString('base64url')
      uploads.set(uploadId, { bucket, key, contentType, parts: new Map() })
      return uploadId
    },

    check(uploadId, bucket, key) {
      const upload = uploadOf(uploadId)
      if (upload.bucket !== bucket || upload.key !== key) throw new S3Error('NoSuchUpload', 'The upload is for another object.')
    },

    async putPart(uploadId, partNumber, body) {
      const upload = uploadOf(uploadId)
      if (!(Number.isInteger(partNumber) && partNumber >= 1 && partNumber <= 10_000))
        throw new S3Error('InvalidArgument', 'Part numbers go from 1 to 10,000.')
      const part: Part = { etag: `"${randomBytes(16).toString('hex')}"`, path: folder.temporaryPath() }
      try {
        await writeFile(part.path, boundedBody(body, MAX_PART_BYTES), { flag: 'wx', mode: 0o600 })
        if (!uploads.has(uploadId)) throw new S3Error('NoSuchUpload', 'The upload was ended meanwhile.')
      } catch (error) {
        await unlink(part.path).catch(ignoreMissing)
        throw error
      }
      const replaced = upload.parts.get(partNumber)
      upload.parts.set(partNumber, part)
      if (replaced !== undefined) await unlink(replaced.path).catch(ignoreMissing)
      return { etag: part.etag }
    },

    async complete(uploadId, wanted) {
      const upload = uploadOf(uploadId)
      if (wanted.length === 0) throw new S3Error('MalformedXML', 'The list of parts is empty.')
      const parts = wanted.map(({ partNumber, etag }, index) => {
        if (index > 0 && partNumber <= (wanted[index - 1]?.partNumber ?? 0))
          throw new S3Error('InvalidPartOrder', 'The parts are not in ascending order.')
        const part = upload.parts.get(partNumber)
        if (part === undefined || part.etag !== etag)
          throw new S3Error('InvalidPart', `Part ${partNumber} was not uploaded, or has another ETag.`)
        return part
      })
      const stored = await folder.put(upload.bucket, upload.key, contentsOf(parts), { contentType: upload.contentType })
      uploads.delete(uploadId)
      await removeParts(upload)
      return stored
    },

    async abort(uploadId) {
      const upload = uploadOf(uploadId)
      uploads.delete(uploadId)
      await removeParts(upload)
    },
  }
}

async function* contentsOf(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield* createReadStream(part.path, { highWaterMark: READ_BYTES }) as AsyncIterable<Uint8Array>
}
