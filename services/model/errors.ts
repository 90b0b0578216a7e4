interface ErrorEntry {
  /** HTTP status of the answer. */
  readonly status: number
  /** OpenAI's `error.type`. */
  readonly type: 'invalid_request_error' | 'authentication_error' | 'permission_error' | 'rate_limit_error' | 'server_error'
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
}

/** Every error that a client can receive. The key is the wire `code`; changing an entry is an API change. */
export const ERRORS = {
  invalid_json: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_request: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_file_name: { status: 400, type: 'invalid_request_error', retryable: false },
  invalid_notebook: { status: 400, type: 'invalid_request_error', retryable: false },
  limit_exceeded: { status: 400, type: 'invalid_request_error', retryable: false },
  previous_response_not_found: { status: 400, type: 'invalid_request_error', retryable: false },
  unsupported_value: { status: 400, type: 'invalid_request_error', retryable: false },
  network_not_allowed: { status: 400, type: 'invalid_request_error', retryable: false },
  webhook_unreachable: { status: 400, type: 'invalid_request_error', retryable: true },
  invalid_api_key: { status: 401, type: 'authentication_error', retryable: false },
  insufficient_scope: { status: 403, type: 'permission_error', retryable: false },
  origin_not_allowed: { status: 403, type: 'permission_error', retryable: false },
  not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  container_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  snapshot_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  execution_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  command_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  output_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  response_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  file_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  skill_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  upload_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  conversation_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  item_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  link_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  share_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  webhook_endpoint_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  secret_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  tenant_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  plan_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  key_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  model_not_found: { status: 404, type: 'invalid_request_error', retryable: false },
  method_not_allowed: { status: 405, type: 'invalid_request_error', retryable: false },
  request_timeout: { status: 408, type: 'invalid_request_error', retryable: true },
  conflict: { status: 409, type: 'invalid_request_error', retryable: false },
  upload_incomplete: { status: 409, type: 'invalid_request_error', retryable: false },
  unknown_host: { status: 421, type: 'invalid_request_error', retryable: false },
  idempotency_key_reused: { status: 422, type: 'invalid_request_error', retryable: false },
  upgrade_required: { status: 426, type: 'invalid_request_error', retryable: false },
  request_too_large: { status: 413, type: 'invalid_request_error', retryable: false },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', retryable: false },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', retryable: true },
  sandbox_seconds_exhausted: { status: 429, type: 'rate_limit_error', retryable: false },
  dollars_exhausted: { status: 429, type: 'rate_limit_error', retryable: false },
  model_tokens_exhausted: { status: 429, type: 'rate_limit_error', retryable: false },
  storage_exhausted: { status: 429, type: 'rate_limit_error', retryable: false },
  too_many_queued: { status: 429, type: 'rate_limit_error', retryable: true },
  too_many_streams: { status: 429, type: 'rate_limit_error', retryable: true },
  concurrency_limit_reached: { status: 429, type: 'rate_limit_error', retryable: true },
  too_many_results: { status: 429, type: 'rate_limit_error', retryable: true },
  too_many_request_bytes: { status: 429, type: 'rate_limit_error', retryable: true },
  too_many_connections: { status: 429, type: 'rate_limit_error', retryable: true },
  not_offered: { status: 501, type: 'invalid_request_error', retryable: false },
  model_error: { status: 502, type: 'server_error', retryable: true },
  sandbox_unavailable: { status: 503, type: 'server_error', retryable: true },
  not_ready: { status: 503, type: 'server_error', retryable: true },
  storage_full: { status: 507, type: 'server_error', retryable: false },
  internal_error: { status: 500, type: 'server_error', retryable: true },
} as const satisfies Record<string, ErrorEntry>
export type ErrorCode = keyof typeof ERRORS

export interface ReachedLimit {
  /** Name of the limit in `GET /v1/limits`. */
  readonly name: string
  readonly value: number
  /** When the same request may succeed. */
  readonly retryAfterSeconds: number
}

/** An expected refusal. The client sees `message`: what happened, why, and what to do. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  /** The request field at fault, as OpenAI's `error.param`. */
  readonly param: string | null
  /** The limit that was reached, for the headers of a 429. */
  readonly limit: ReachedLimit | null
  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly param?: string; readonly limit?: ReachedLimit; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.param = options.param ?? null
    this.limit = options.limit ?? null
  }
}
