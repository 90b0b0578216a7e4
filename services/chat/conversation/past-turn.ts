import type { ResponseRecord, ResponseRequest } from '../../core/responses/response.ts'

/** What a later turn needs of an earlier one. */
export type PastTurn = Pick<ResponseRecord, 'items' | 'status' | 'containerId'> & { readonly request: Pick<ResponseRequest, 'input'> }

export interface History {
  readonly turns: readonly PastTurn[]
  /** False: there are older turns. */
  readonly isWhole: boolean
}
