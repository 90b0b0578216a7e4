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

/** The error that an answer without success describes. */
export async function errorOf(response: globalThis.Response): Promise<CellblockError> {
  const text = await response.text()
  const fields = { status: response.status, code: null, param: null, requestId: response.headers.get('x-request-id') }
  try {
    const { error } = JSON.parse(text) as {
      readonly error: { readonly message: string; readonly code: string | null; readonly param: string | null }
    }
    return new CellblockError(error.message, { ...fields, code: error.code, param: error.param })
  } catch {
    return new CellblockError(`The server answered HTTP ${response.status}, and not in Cellblock's form. Check the base URL.`, fields)
  }
}
