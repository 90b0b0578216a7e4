import { ERRORS, ServiceError, type ErrorCode } from '../../model/errors.ts'
import { json } from '../../http/responses.ts'

/** The execution exists, and the log no longer has what the reader misses. */
export class HistoryGoneError extends ServiceError {
  constructor() {
    super(
      'execution_not_found',
      'The events after this number are no longer stored. Read what is left without `after`, or run the command again.',
    )
  }
}

/** Sentences that name routes of another wire. */
const TEXT: Partial<Record<ErrorCode, string>> = { container_not_found: 'sandbox not found', command_not_found: 'execution not found' }

/** `{error: string, code: number}`. Clients repeat a 429 and a 503. */
export function refuse(error: ServiceError): Response {
  const { status, retryable } = ERRORS[error.code]
  const code = error instanceof HistoryGoneError ? 410 : status
  const headers: Record<string, string> = code === 429 && retryable ? { 'retry-after': String(error.limit?.retryAfterSeconds ?? 1) } : {}
  return json(code, { error: TEXT[error.code] ?? error.message, code }, headers)
}
