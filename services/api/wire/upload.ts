import { z } from '@hono/zod-openapi'
import { LIMITS } from '../../core/limits.ts'

export const CopyFileBody = z
  .object({
    file_id: z.string().max(200).openapi({ description: 'A file of `/v1/files` or of another container: it is copied.' }),
    path: z.string().max(4_096).nullish().openapi({ description: 'Where to put it below /mnt/data; the same path as there unless given.' }),
  })
  .openapi('CopyFile')

export const FileForm = z
  .object({
    file: z
      .string()
      .optional()
      .openapi({ format: 'binary', description: `At most ${LIMITS.maxMultipartFileBytes} bytes; take an upload URL for more.` }),
    path: z.string().optional().openapi({ description: 'Where to put it below /mnt/data; its own name unless given.' }),
    file_id: z.string().optional().openapi({ description: 'Instead of `file`: a file of `/v1/files` or of another container.' }),
  })
  .openapi('FileForm')

export const UploadUrlBody = z
  .object({
    path: z.string().max(4_096).openapi({ example: 'data/sales.csv' }),
    bytes: z
      .int('give a whole number')
      .min(0, 'give at least 0')
      .openapi({ description: `Exact size, at most ${LIMITS.maxFileBytes}.` }),
    sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'give 64 hex digits')
      .nullish()
      .openapi({ description: 'Checked against the bytes at `complete`.' }),
  })
  .openapi('UploadUrlRequest')

export const UploadUrl = z
  .object({
    id: z.string().openapi({ description: 'The file that it becomes: name it in `…/files/{file_id}/complete`.' }),
    object: z.literal('container.file.upload'),
    url: z.string().openapi({ description: 'PUT the bytes here, without an API key.' }),
    headers: z.record(z.string(), z.string()).openapi({ description: 'To be sent exactly so with the PUT.' }),
    expires_at: z.string().openapi({ format: 'date-time' }),
  })
  .openapi('UploadUrl')
