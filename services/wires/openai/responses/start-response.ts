import { claimId } from '../../../http/claim-id.ts'
import type { Call } from '../../../http/route.ts'
import { InlineBundles } from '../../../operations/skills/resolve-skills.ts'
import { makeRequest } from './make-request.ts'
import { conversationIdOf, type CreateResponse } from './schema.ts'
import { newResponse } from '../../../operations/turns/accept-response.ts'
import type { ResponseRecord } from '../../../model/responses/response.ts'

export interface PreparedResponse {
  readonly row: ResponseRecord
  /** The row exists already: an earlier call created it. */
  readonly isReplay: boolean
}

export interface PrepareOptions {
  /** `compaction`: the turn writes the summary of its conversation. */
  readonly purpose?: 'compaction'
  /** As in ResponseRequest. */
  readonly hidesPictures?: boolean
  /**
   * Whether the wire answers this row with an error that clients retry. Such a retry starts another turn. Absent where a failed turn is an object
   * with status 200.
   */
  readonly isRefused?: (row: ResponseRecord) => boolean
}

/** The response that a call requests, with all referenced objects. It is not written yet, unless an earlier call created it. Throws ServiceError. */
export async function prepareResponse(
  call: Call<unknown, CreateResponse>,
  { isRefused, ...marks }: PrepareOptions = {},
): Promise<PreparedResponse> {
  const { deps, caller, body } = call
  const hasFailed = async (id: string): Promise<boolean> => {
    const row = isRefused === undefined ? null : await deps.table.responses.get(caller.tenant, id)
    return row !== null && isRefused?.(row) === true
  }
  const claimed = await claimId(call, 'response', call.rawBody, undefined, hasFailed)
  const earlier = claimed.isReplay ? await deps.table.responses.get(caller.tenant, claimed.id) : null
  if (earlier !== null) {
    call.note('response_id', earlier.id)
    return { row: earlier, isReplay: true }
  }
  await deps.budget.checkModel(caller.tenant)
  const inline = new InlineBundles(call, claimed.id)
  const made = await makeRequest(call, inline).catch(async (error: unknown) => {
    await inline.discard()
    throw error
  })
  const request = { ...made, ...marks }
  const row = newResponse(
    {
      id: claimed.id,
      tenant: caller.tenant,
      subject: caller.subject,
      request,
      previousResponseId: body.previous_response_id ?? null,
      conversationId: conversationIdOf(body),
      publicUrl: call.publicUrl,
    },
    deps.clock.now(),
  )
  call.note('response_id', row.id)
  call.note('model', request.model)
  return { row, isReplay: false }
}
