import type { Response, ResponseRequest } from '../../core/responses/response.ts'

/** What a later turn needs of an earlier one. */
export type PastTurn = Pick<Response, 'items' | 'status' | 'containerId'> & { readonly request: Pick<ResponseRequest, 'input'> }
