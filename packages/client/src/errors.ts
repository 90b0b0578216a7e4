/** A refusal of the server. `code` is one of the codes in the OpenAPI document; `requestId` names the call in the server's log. */
export class CellblockError extends Error {
  readonly status: number
  readonly code: string | null
  readonly param: string | null
  readonly requestId: string | null
  constructor(message: string, fields: Pick<CellblockError, 'status' | 'code' | 'param' | 'requestId'>, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CellblockError'
    this.status = fields.status
    this.code = fields.code
    this.param = fields.param
    this.requestId = fields.requestId
  }
}

/** The error that an answer without success describes. `body`: the parsed answer. */
export function errorOf(response: Response, body: unknown): CellblockError {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as {
    readonly error?: { readonly message: string; readonly code: string | null; readonly param: string | null }
  }
  const requestId = response.headers.get('x-request-id')
  if (typeof error?.message === 'string')
    return new CellblockError(error.message, { status: response.status, code: error.code, param: error.param, requestId })
  const message = `The server answered HTTP ${response.status}, and not in Cellblock's form. Check the base URL.`
  return new CellblockError(message, { status: response.status, code: null, param: null, requestId })
}
