import { responseOf } from '../../../operations/access.ts'
import type { Call } from '../../../http/route.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { ResponseRecord } from '../../../model/responses/response.ts'

/**
 * The response that a request continues. Throws ServiceError `previous_response_not_found`: clients recover from this code and send the whole input
 * instead.
 */
export async function previousOf(call: Pick<Call, 'deps' | 'caller' | 'request'>, id: string): Promise<ResponseRecord> {
  return responseOf(call, id, 'previous_response_id').catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError('previous_response_not_found', `Previous response with id ${JSON.stringify(id.slice(0, 80))} not found.`, {
      param: 'previous_response_id',
      cause: error,
    })
  })
}
