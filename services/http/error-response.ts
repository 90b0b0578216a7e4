import { errorPagePath } from '../model/error-help.ts'
import { ERRORS, ServiceError, type ReachedLimit } from '../model/errors.ts'
import { json } from './responses.ts'

/** OpenAI's error envelope with the id of the request. */
export const errorEnvelope = (
  { code, message, param }: Pick<ServiceError, 'code' | 'message' | 'param'>,
  requestId: string,
): Readonly<Record<string, unknown>> => ({
  error: { message, type: ERRORS[code].type, code, param },
  request_id: requestId,
})

/**
 * The answer to a refusal. `x-should-retry` says to OpenAI's clients, which repeat every 409 and 5xx,
 * whether the same call can succeed.
 */
export function errorResponse(error: ServiceError, requestId: string): Response {
  const entry = ERRORS[error.code]
  const headers: Record<string, string> = {
    'x-should-retry': String(entry.retryable),
    link: `<${errorPagePath(error.code)}>; rel="help"`,
  }
  if (entry.retryable) headers['retry-after'] = '1'
  if (error.limit !== null) Object.assign(headers, limitHeaders(error.limit))
  if (entry.status === 401) headers['www-authenticate'] = 'Bearer'
  return json(entry.status, errorEnvelope(error, requestId), headers)
}

/** The RateLimit header fields of the IETF draft, version 06: the limit, what remains of it, and the seconds until it resets. */
export const limitHeaders = ({ name, value, retryAfterSeconds }: ReachedLimit): Record<string, string> => ({
  'retry-after': String(retryAfterSeconds),
  'ratelimit-limit': String(value),
  'ratelimit-remaining': '0',
  'ratelimit-reset': String(retryAfterSeconds),
  'x-limit-name': name,
})

/** A broken invariant: the client receives only the request's id. */
export const internalErrorResponse = (requestId: string): Response =>
  errorResponse(new ServiceError('internal_error', `Internal error. Try again; if it persists, report request ${requestId}.`), requestId)
