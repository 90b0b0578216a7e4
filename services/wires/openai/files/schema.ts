import * as z from 'zod'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { ListQuery, queryInteger } from '../../../http/schemas.ts'
import { FILE_PURPOSES, type UserFile as FileRow } from '../../../model/files/user-file.ts'
import { LIMITS } from '../../../model/limits.ts'

export const Purpose = lazySchema(() => z.enum(FILE_PURPOSES, `give one of ${FILE_PURPOSES.join(', ')}`))

export const FileExpiry = lazySchema(() =>
  z.object({
    anchor: z.literal('created_at', 'the only anchor is "created_at"'),
    seconds: z
      .int('give a whole number')
      .min(LIMITS.minFileSeconds, `give at least ${LIMITS.minFileSeconds}`)
      .max(LIMITS.maxFileSeconds, `give at most ${LIMITS.maxFileSeconds}`),
  }),
)

/** The form's fields beside the file, nested names unfolded. */
export const UserFileFields = lazySchema(() => z.object({ purpose: Purpose(), expires_after: FileExpiry().optional() }))

export const UserFileForm = lazySchema(() =>
  z
    .object({
      file: z.string().openapi({ format: 'binary', description: `At most ${LIMITS.maxFileBytes} bytes.` }),
      purpose: Purpose(),
      'expires_after[anchor]': z.literal('created_at').optional(),
      'expires_after[seconds]': z
        .int()
        .optional()
        .openapi({ description: `${LIMITS.minFileSeconds} to ${LIMITS.maxFileSeconds}.` }),
    })
    .openapi('UserFileForm'),
)

export const UserFileQuery = lazySchema(() =>
  ListQuery().extend({
    limit: queryInteger(1, 10_000, 'Files on a page, 100 by default; a page has 1,000 at most.').optional(),
    purpose: z.string().max(60).optional().openapi({ description: 'Only files with this purpose.' }),
  }),
)

export const UserFile = lazySchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'file-01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('file'),
      bytes: z.int(),
      created_at: z.int().openapi({ description: 'Unix seconds.' }),
      expires_at: z.int().nullable(),
      filename: z.string(),
      purpose: Purpose(),
      status: z.literal('processed'),
      status_details: z.null(),
      sha256: z.string(),
    })
    .openapi('UserFile'),
)

export const renderUserFile = (row: FileRow): Described<typeof UserFile> => ({
  id: row.id,
  object: 'file',
  bytes: row.bytes,
  created_at: Math.floor(row.createdAt / 1000),
  expires_at: row.expiresAt === null ? null : Math.floor(row.expiresAt / 1000),
  filename: row.filename,
  purpose: row.purpose,
  status: 'processed',
  status_details: null,
  sha256: row.sha256,
})
