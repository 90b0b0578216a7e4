import type * as z from 'zod'
import { LIMITS } from '../model/limits.ts'
import { MESSAGE } from '../model/scan-json.ts'
import { parseJson } from './parse-json.ts'
import { readBody, refuseEncoded } from './read-body.ts'
import { validate } from './validate.ts'

/** The JSON message of a call of a foreign protocol; an absent one counts as `{}`. Throws ServiceError. */
export async function readJsonMessage<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  refuseEncoded(request)
  const bytes = await readBody(request, LIMITS.maxJsonBytes)
  return validate(schema, bytes.byteLength === 0 ? {} : parseJson(bytes, MESSAGE), 'body')
}
