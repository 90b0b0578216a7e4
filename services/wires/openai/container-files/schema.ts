import * as z from 'zod'
import { lazySchema } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'

export const CopyFileBody = lazySchema(() =>
  z
    .object({
      file_id: z.string().max(200).openapi({ description: 'A file of `/v1/files` or of another container: it is copied.' }),
      path: z
        .string()
        .max(4_096)
        .nullish()
        .openapi({ description: 'The path of the copy below /mnt/data. By default the path of the source.' }),
    })
    .openapi('CopyFile'),
)

export const FileForm = lazySchema(() =>
  z
    .object({
      file: z
        .string()
        .optional()
        .openapi({ format: 'binary', description: `At most ${LIMITS.maxMultipartFileBytes} bytes.` }),
      path: z.string().optional().openapi({ description: 'The path of the file below /mnt/data. By default its file name.' }),
      file_id: z.string().optional().openapi({ description: 'Instead of `file`: a file of `/v1/files` or of another container.' }),
    })
    .openapi('FileForm'),
)
