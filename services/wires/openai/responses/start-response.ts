import type { Scope } from '../../../model/tenants/tenant.ts'
import { claimId } from '../../../http/claim-id.ts'
import type { Call } from '../../../http/route.ts'
import { responseOf } from '../../../operations/access.ts'
import { prepareTurn, type PreparedTurn } from '../../../operations/turns/prepare-turn.ts'
import type { ResponseRecord, ResponseRequest } from '../../../model/responses/response.ts'
import type { CreateResponse } from './schema.ts'
import { toTurnRequest } from './to-turn-request.ts'

export interface PrepareOptions extends Pick<ResponseRequest, 'purpose' | 'hidesPictures'> {
  /**
   * Whether the wire answers this row with an error that clients retry. Such a retry starts another turn. Absent where a failed turn is an object
   * with status 200.
   */
  readonly isRefused?: (row: ResponseRecord) => boolean
}

/** The response that a call requests under the id that its headers claim. It is not written yet, unless an earlier call created it. Throws ServiceError. */
export async function prepareResponse(
  call: Call<unknown, CreateResponse>,
  { isRefused, ...marks }: PrepareOptions = {},
): Promise<PreparedTurn> {
  const { deps, caller, body, publicUrl } = call
  const hasFailed = async (id: string): Promise<boolean> => {
    const row = isRefused === undefined ? null : await deps.table.responses.get(caller.tenant, id)
    return row !== null && isRefused?.(row) === true
  }
  const claimed = await claimId(call, 'response', { body: call.rawBody, hasFailed })
  const { request, ...turn } = toTurnRequest(body)
  const marked = { ...request, ...marks }
  const prepared = await prepareTurn(deps, { ...turn, request: marked, caller, claimed, publicUrl, ownsUnstored: ownsUnstored(call) })
  call.note('response_id', prepared.row.id)
  if (!prepared.isReplay) call.note('model', prepared.row.request.model)
  return prepared
}

/** Whether the connection of this call made a response that is not stored. */
export const ownsUnstored =
  ({ deps, request }: Pick<Call, 'deps' | 'request'>) =>
  (id: string): boolean =>
    deps.sockets?.isOwn(request, id) === true

/** The response that the path names. */
export const calledResponse = (call: Call, scope: Scope): Promise<ResponseRecord> =>
  responseOf({ ...call, ownsUnstored: ownsUnstored(call) }, call.param('response_id'), scope)
