import type { ResponseRecord, ResponseRequest } from '../../../model/responses/response.ts'

/** The parts of an earlier turn that a later one needs. */
export type PastTurn = Pick<ResponseRecord, 'items' | 'status' | 'containerId'> & { readonly request: Pick<ResponseRequest, 'input'> }

export interface History {
  readonly turns: readonly PastTurn[]
  /** False: there are older turns. */
  readonly isWhole: boolean
}
