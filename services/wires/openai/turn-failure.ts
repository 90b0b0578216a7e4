import { errorResponse } from '../../http/error-response.ts'
import { ServiceError } from '../../model/errors.ts'

type Wire = Readonly<Record<string, unknown>>

/** The error of a turn that failed; null for every other one. */
export function failureOf({ status, error, x_cellblock: extension }: Wire): ServiceError | null {
  if (status !== 'failed') return null
  const { message = 'The turn failed. Try again.' } = (error ?? {}) as { readonly message?: string }
  const { error_code: code } = extension as Wire
  return new ServiceError(
    code === 'context_length_exceeded' ? 'invalid_request' : code === 'rate_limit_exceeded' ? 'rate_limit_exceeded' : 'model_error',
    message,
  )
}

/** A turn that outlasts the request. */
export const turnTooSlow = (seconds: number, advice: string): ServiceError =>
  new ServiceError('model_error', `The turn takes longer than ${seconds} s, the longest time that one request is held. ${advice}`)

/** The answer to an expected refusal; other errors are thrown again. */
export function refusalOf(error: unknown, requestId: string): Response {
  if (error instanceof ServiceError) return errorResponse(error, requestId)
  throw error
}
