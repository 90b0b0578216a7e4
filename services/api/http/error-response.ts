import { ERRORS, ServiceError, type ErrorCode, type ReachedLimit } from '../../core/errors.ts'
import { json } from './responses.ts'

/** OpenAI's error envelope, and the request's id so that a report can name it. */
export const errorEnvelope = (
  code: ErrorCode,
  message: string,
  param: string | null,
  requestId: string,
): Readonly<Record<string, unknown>> => ({
  error: { message, type: ERRORS[code].type, code, param },
  request_id: requestId,
})

/**
 * The answer to a refusal. `x-should-retry` tells OpenAI's clients, which replay every 409 and 5xx by themselves,
 * whether the same call can succeed at all.
 */
export function errorResponse(error: ServiceError, requestId: string): Response {
  const entry = ERRORS[error.code]
  const headers: Record<string, string> = { 'x-should-retry': String(entry.retryable) }
  if (entry.retryable) headers['retry-after'] = '1'
  if (error.limit !== null) Object.assign(headers, limitHeaders(error.limit))
  if (entry.status === 401) headers['www-authenticate'] = 'Bearer'
  return json(entry.status, errorEnvelope(error.code, error.message, error.param, requestId), headers)
}

/** The RateLimit header fields of the IETF draft, version 06: the limit, what remains of it, and the seconds until it resets. */
const limitHeaders = ({ name, value, retryAfterSeconds }: ReachedLimit): Record<string, string> => ({
  'retry-after': String(retryAfterSeconds),
  'ratelimit-limit': String(value),
  'ratelimit-remaining': '0',
  'ratelimit-reset': String(retryAfterSeconds),
  'x-limit-name': name,
})

/** A broken invariant: the caller learns the request's id and nothing else. */
export const internalErrorResponse = (requestId: string): Response =>
  errorResponse(
    new ServiceError('internal_error', `Something went wrong here. Try again; if it stays, report request ${requestId}.`),
    requestId,
  )
