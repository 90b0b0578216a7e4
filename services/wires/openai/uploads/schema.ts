import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { hexDigits } from '../../../http/schemas.ts'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { FileExpiry, Purpose, renderUserFile, UserFile } from '../files/schema.ts'
import type { Upload as UploadRow, UploadPart as PartRow } from '../../../model/files/upload.ts'
import type { UserFile as FileRow } from '../../../model/files/user-file.ts'
import { LIMITS } from '../../../model/limits.ts'

export const CreateUpload = lazySchema(() =>
  z
    .object({
      filename: z.string().min(1, 'give a file name').max(LIMITS.maxPathBytes),
      bytes: z
        .int('give a whole number')
        .min(0, 'give at least 0')
        .openapi({ description: `Exact size, at most ${LIMITS.maxFileBytes}.` }),
      mime_type: z.string().max(200).openapi({ description: 'Accepted, but the content type of a download follows from the file name.' }),
      purpose: Purpose(),
      expires_after: FileExpiry().nullish(),
    })
    .openapi('CreateUpload'),
)

export const PartForm = lazySchema(() =>
  z
    .object({ data: z.string().openapi({ format: 'binary', description: `At most ${LIMITS.maxUploadPartBytes} bytes.` }) })
    .openapi('UploadPartForm'),
)

export const CompleteUpload = lazySchema(() =>
  z
    .object({
      part_ids: boundedList(z.string().max(200), { min: 1, max: LIMITS.maxUploadParts }).openapi({
        description: 'Ids of the parts in the order of the file. Parts that are not named are deleted.',
      }),
      md5: hexDigits(32).nullish().openapi({ description: 'MD5 of the whole file.' }),
    })
    .openapi('CompleteUpload'),
)

export const Upload = lazySchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'upload_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('upload'),
      bytes: z.int(),
      created_at: z.int(),
      expires_at: z.int(),
      filename: z.string(),
      purpose: Purpose(),
      status: z.enum(['pending', 'completed', 'cancelled', 'expired']),
      file: z.union([UserFile(), z.null()]),
    })
    .openapi('Upload'),
)

export const renderUpload = (row: UploadRow, file: FileRow | null, now: number): Described<typeof Upload> => ({
  id: row.id,
  object: 'upload',
  bytes: row.bytes,
  created_at: Math.floor(row.createdAt / 1000),
  expires_at: Math.floor(row.expiresAt / 1000),
  filename: row.filename,
  purpose: row.purpose,
  status: row.status === 'pending' && row.expiresAt <= now ? 'expired' : row.status,
  file: file === null ? null : renderUserFile(file),
})

export const UploadPart = lazySchema(() =>
  z.object({ id: z.string(), object: z.literal('upload.part'), created_at: z.int(), upload_id: z.string() }).openapi('UploadPart'),
)

export const renderPart = (row: PartRow): Described<typeof UploadPart> => ({
  id: row.id,
  object: 'upload.part',
  created_at: Math.floor(row.createdAt / 1000),
  upload_id: row.uploadId,
})
