import { z } from '@hono/zod-openapi'
import { ERRORS, ServiceError, type ErrorCode } from '../../../core/errors.ts'
import { json } from '../../http/responses.ts'
import type { Call } from '../../http/route.ts'
import { ErrorBody } from '../../http/schemas.ts'

/** The client tells the model that this is permanent, so that it does not try again. */
export class CapabilityError extends Error {}

/** Codes that LibreChat's clients know, by Cellblock's error code. */
const CODES: Partial<Record<ErrorCode, string>> = {
  request_too_large: 'session_input_too_large',
  file_not_found: 'session_input_unavailable',
  container_not_found: 'session_input_unavailable',
  sandbox_unavailable: 'sandbox_setup_failed',
}
const RETRY_AFTER_SECONDS = 1

/** Refusals that come before the wire, such as that of a key, have our envelope. */
export const LibreChatError = z
  .union([ErrorBody, z.object({ error: z.string(), message: z.string(), retry_after_seconds: z.number().optional() })])
  .openapi('LibreChatError')

/** Answers refusals in the wire's form: a code in `error`, and a sentence in `message`. */
export function inWireForm<Query, Body>(
  handle: (call: Call<Query, Body>) => Promise<Response>,
): (call: Call<Query, Body>) => Promise<Response> {
  return async (call) => {
    try {
      return await handle(call)
    } catch (error) {
      if (error instanceof CapabilityError) return json(422, { error: 'unsupported_capability', message: error.message })
      if (!(error instanceof ServiceError)) throw error
      const { status } = ERRORS[error.code]
      const { message } = error
      if (status !== 429) return json(status, { error: CODES[error.code] ?? (status === 400 ? 'bad_request' : error.code), message })
      return json(
        429,
        { error: 'rate_limited', message, retry_after_seconds: RETRY_AFTER_SECONDS },
        { 'retry-after': String(RETRY_AFTER_SECONDS), 'ratelimit-remaining': '0', 'ratelimit-reset': String(RETRY_AFTER_SECONDS) },
      )
    }
  }
}
