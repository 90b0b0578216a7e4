import { ERRORS, ServiceError, type ErrorCode } from '../../model/errors.ts'
import { json } from '../../http/responses.ts'

/** E2B's clients take 502 for a sandbox that has ended or is paused. */
export class SandboxGoneError extends ServiceError {
  readonly sandboxId: string
  constructor(sandboxId: string, message = 'The sandbox was not found') {
    super('sandbox_unavailable', message)
    this.sandboxId = sandboxId
  }
}

/** The request names something that E2B has and this service does not. */
export class NotOfferedError extends ServiceError {
  constructor(what: string) {
    super('unsupported_value', `${what} Cellblock does not offer this part of E2B. docs/clients.md lists what it offers.`)
  }
}

const statusOf = (error: ServiceError): number =>
  error instanceof SandboxGoneError ? 502 : error instanceof NotOfferedError ? 501 : ERRORS[error.code].status

/** `{code: number, message}`: the control plane, the interpreter and files. Clients repeat a 429 after `retry-after`. */
export function refuse(error: ServiceError): Response {
  const status = statusOf(error)
  const headers: Record<string, string> =
    status === 429 && ERRORS[error.code].retryable ? { 'retry-after': String(error.limit?.retryAfterSeconds ?? 1) } : {}
  const named = error instanceof SandboxGoneError ? { sandboxId: error.sandboxId } : {}
  return json(status, { ...named, code: status, message: error.message }, headers)
}

const CONNECT_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'failed_precondition',
  413: 'resource_exhausted',
  429: 'resource_exhausted',
  501: 'unimplemented',
  502: 'unavailable',
  503: 'unavailable',
  507: 'resource_exhausted',
}
/** Codes of Connect without a corresponding error code of Cellblock. */
export type RpcCode = 'already_exists' | 'deadline_exceeded' | 'aborted'

/** A refusal of a remote procedure with its own code, such as a folder that exists. */
export class RpcError extends ServiceError {
  readonly rpcCode: RpcCode
  constructor(rpcCode: RpcCode, message: string, code: ErrorCode = 'conflict') {
    super(code, message)
    this.rpcCode = rpcCode
  }
}

/** The body of an error of the Connect protocol. */
export const rpcError = (error: ServiceError): { readonly code: string; readonly message: string } => ({
  code: error instanceof RpcError ? error.rpcCode : (CONNECT_CODES[statusOf(error)] ?? 'internal'),
  message: error.message,
})

/** The answer to a refused unary call. */
export const refuseRpc = (error: ServiceError): Response => json(statusOf(error), rpcError(error))
