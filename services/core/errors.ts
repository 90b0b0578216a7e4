interface ErrorEntry {
  /** HTTP status of the answer. */
  readonly status: number
  /** OpenAI's `error.type`. */
  readonly type: 'invalid_request_error' | 'authentication_error' | 'permission_error' | 'rate_limit_error' | 'server_error'
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** Who has to do something. */
  readonly act: 'caller' | 'operator' | 'nobody'
}

/** Every error that a client can receive. The key is the wire `code`; changing an entry is an API change. */
export const ERRORS = {
  invalid_json: { status: 400, type: 'invalid_request_error', retryable: false, act: 'caller' },
  invalid_request: { status: 400, type: 'invalid_request_error', retryable: false, act: 'caller' },
  invalid_file_name: { status: 400, type: 'invalid_request_error', retryable: false, act: 'caller' },
  invalid_notebook: { status: 400, type: 'invalid_request_error', retryable: false, act: 'caller' },
  limit_exceeded: { status: 400, type: 'invalid_request_error', retryable: false, act: 'caller' },
  unsupported_value: { status: 400, type: 'invalid_request_error', retryable: false, act: 'caller' },
  invalid_api_key: { status: 401, type: 'authentication_error', retryable: false, act: 'caller' },
  not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  container_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  execution_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  response_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  file_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  upload_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  conversation_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  item_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  link_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  model_not_found: { status: 404, type: 'invalid_request_error', retryable: false, act: 'caller' },
  method_not_allowed: { status: 405, type: 'invalid_request_error', retryable: false, act: 'caller' },
  conflict: { status: 409, type: 'invalid_request_error', retryable: false, act: 'caller' },
  upload_incomplete: { status: 409, type: 'invalid_request_error', retryable: false, act: 'caller' },
  idempotency_key_reused: { status: 422, type: 'invalid_request_error', retryable: false, act: 'caller' },
  request_too_large: { status: 413, type: 'invalid_request_error', retryable: false, act: 'caller' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', retryable: false, act: 'caller' },
  too_many_queued: { status: 429, type: 'rate_limit_error', retryable: true, act: 'caller' },
  too_many_streams: { status: 429, type: 'rate_limit_error', retryable: true, act: 'nobody' },
  concurrency_limit_reached: { status: 429, type: 'rate_limit_error', retryable: true, act: 'nobody' },
  model_error: { status: 502, type: 'server_error', retryable: true, act: 'operator' },
  sandbox_unavailable: { status: 503, type: 'server_error', retryable: true, act: 'operator' },
  not_ready: { status: 503, type: 'server_error', retryable: true, act: 'operator' },
  storage_full: { status: 507, type: 'server_error', retryable: false, act: 'operator' },
  internal_error: { status: 500, type: 'server_error', retryable: true, act: 'operator' },
} as const satisfies Record<string, ErrorEntry>
export type ErrorCode = keyof typeof ERRORS

/** An expected refusal. The client sees `message`: what happened, why, and what to do. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  /** The request field at fault, as OpenAI's `error.param`. */
  readonly param: string | null
  constructor(code: ErrorCode, message: string, options: { readonly param?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.param = options.param ?? null
  }
}
