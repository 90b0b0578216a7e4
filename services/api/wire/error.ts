import { z } from '@hono/zod-openapi'
import { ERRORS } from '../../core/errors.ts'

export const ErrorBody = z
  .object({
    error: z.object({
      message: z.string().openapi({ description: 'One sentence that says what to do.' }),
      type: z.string().openapi({ example: 'invalid_request_error' }),
      code: z.enum(Object.keys(ERRORS) as [keyof typeof ERRORS, ...(keyof typeof ERRORS)[]]).nullable(),
      param: z.string().nullable().openapi({ description: 'The field at fault.' }),
    }),
    request_id: z.string().openapi({ description: 'Also in the header `x-request-id`.' }),
  })
  .openapi('Error')
