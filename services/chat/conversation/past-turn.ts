import type { ResponseRecord, ResponseRequest } from '../../core/responses/response.ts'

/** What a later turn needs of an earlier one. */
export type PastTurn = Pick<ResponseRecord, 'items' | 'status' | 'containerId'> & { readonly request: Pick<ResponseRequest, 'input'> }
