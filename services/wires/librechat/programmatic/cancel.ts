import { ServiceError } from '../../../model/errors.ts'
import { newId } from '../../../model/ids.ts'
import { visibleTo } from '../../../operations/access.ts'
import { cancelExecution } from '../../../operations/executions/cancel-execution.ts'
import type { ClaimedId } from '../../../operations/claimed-id.ts'
import type { Call } from '../../../http/route.ts'
import type { CancelBody } from './schema.ts'

/** Identifies a request, so that another request can cancel it. */
export const REQUEST_ID = 'x-librechat-code-request-id'
const KEPT_MS = 60 * 60_000
/** In place of an execution's id, when the cancellation came first. */
const CANCELLED = 'cancelled'

const claim = ({ deps, caller }: Pick<Call, 'deps' | 'caller'>, requestId: string, resultId: string) => {
  const now = deps.clock.now()
  const record = { bodyHash: '', resultId, expiresAt: now + KEPT_MS }
  // Tokens of several end users can have one key id.
  const scope = `librechat#${caller.keyId}#${caller.subject ?? ''}`
  return deps.table.idempotency.claim(caller.tenant, { scope, key: requestId, record, now })
}

/** The id of the execution of a request; null when the client did not identify it. Throws ServiceError `conflict` if it was cancelled or sent before. */
export async function claimRequest(call: Pick<Call, 'deps' | 'caller' | 'request'>): Promise<ClaimedId | null> {
  const requestId = call.request.headers.get(REQUEST_ID)
  if (requestId === null || requestId.length > 100) return null
  const id = newId('command')
  const { isNew, record } = await claim(call, requestId, id)
  if (!isNew)
    throw new ServiceError(
      'conflict',
      record.resultId === CANCELLED ? 'The request was cancelled before it started.' : 'This request id is in use. Send a new one.',
      { param: REQUEST_ID },
    )
  return { id, at: call.deps.clock.now(), isReplay: false }
}

/** Cancels the execution of a request, or prevents its start. Returns whether there was one. */
export async function cancelRequest(call: Call<unknown, CancelBody>): Promise<boolean> {
  const { record, isNew } = await claim(call, call.body.request_id, CANCELLED)
  if (isNew || record.resultId === CANCELLED) return false
  const { deps, caller } = call
  const row = await deps.table.executions.get(caller.tenant, record.resultId)
  if (row === null || !visibleTo(caller, 'run')(row)) return false
  return (await cancelExecution(deps, row)) !== null
}
