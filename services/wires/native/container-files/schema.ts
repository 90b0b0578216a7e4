import * as z from 'zod'
import { hexDigits } from '../../../http/schemas.ts'
import { answerSchema, lazySchema } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'

export const UploadUrlBody = lazySchema(() =>
  z
    .strictObject({
      path: z.string().max(4_096).openapi({ example: 'data/sales.csv' }),
      bytes: z
        .int('give a whole number')
        .min(0, 'give at least 0')
        .openapi({ description: `Exact size, at most ${LIMITS.maxFileBytes}.` }),
      sha256: hexDigits(64).nullish().openapi({ description: 'Checked against the bytes at `complete`.' }),
    })
    .openapi('UploadUrlRequest'),
)

export const UploadUrl = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ description: 'Id of the future file, for `…/files/{file_id}/complete`.' }),
      object: z.literal('container.file.upload'),
      url: z.string().openapi({ description: 'PUT the bytes here, without an API key.' }),
      headers: z.record(z.string(), z.string()).openapi({ description: 'Headers that the PUT must have unchanged.' }),
      expires_at: z.string().openapi({ format: 'date-time' }),
    })
    .openapi('UploadUrl'),
)
