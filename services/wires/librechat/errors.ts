import * as z from 'zod'
import { lazySchema } from '../../model/lazy-schema.ts'
import { ERRORS, ServiceError, type ErrorCode } from '../../model/errors.ts'
import { limitHeaders } from '../../http/error-response.ts'
import { json } from '../../http/responses.ts'
import { ErrorBody } from '../../http/schemas.ts'

/** Error codes of this wire without an equivalent in Cellblock, with the code in logs. */
const WIRE_CODES = {
  /** The client tells the model that this is permanent, so that it does not try again. */
  unsupported_capability: { status: 422, code: 'unsupported_value' },
  /** The client uploads the file again. */
  session_input_unavailable: { status: 422, code: 'file_not_found' },
  execution_timeout: { status: 504, code: 'sandbox_unavailable' },
} as const satisfies Record<string, { readonly status: number; readonly code: ErrorCode }>

export class WireError extends ServiceError {
  readonly wireCode: keyof typeof WIRE_CODES
  constructor(wireCode: keyof typeof WIRE_CODES, message: string, options: { readonly cause?: unknown } = {}) {
    super(WIRE_CODES[wireCode].code, message, options)
    this.wireCode = wireCode
  }
}

/** Codes that LibreChat's clients know, by Cellblock's error code. */
const CODES: Partial<Record<ErrorCode, string>> = {
  request_too_large: 'session_input_too_large',
  file_not_found: 'session_input_unavailable',
  container_not_found: 'session_input_unavailable',
  sandbox_unavailable: 'sandbox_setup_failed',
}
const RETRY_AFTER_SECONDS = 1

/** Internal errors have our envelope. */
export const LibreChatError = lazySchema(() =>
  z
    .union([ErrorBody(), z.object({ error: z.string(), message: z.string(), retry_after_seconds: z.number().optional() })])
    .openapi('LibreChatError'),
)

/** A refusal in the wire's form: a code in `error`, and a sentence in `message`. */
export function refuse(error: ServiceError): Response {
  const { code, message, limit } = error
  if (error instanceof WireError) return json(WIRE_CODES[error.wireCode].status, { error: error.wireCode, message })
  const { status } = ERRORS[code]
  if (status === 429) {
    const seconds = limit?.retryAfterSeconds ?? RETRY_AFTER_SECONDS
    const headers = limit === null ? { 'retry-after': String(seconds) } : limitHeaders(limit)
    return json(429, { error: 'rate_limited', message, retry_after_seconds: seconds }, headers)
  }
  return json(
    status,
    { error: CODES[code] ?? (status === 400 ? 'bad_request' : code), message },
    status === 401 ? { 'www-authenticate': 'Bearer' } : {},
  )
}
