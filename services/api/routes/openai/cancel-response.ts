import { ServiceError } from '../../../core/errors.ts'
import { renderResponse } from '../../../core/responses/render-response.ts'
import { loadForRendering } from '../../../core/responses/inline-images.ts'
import { responseOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { cancelResponse } from '../../responses/cancel-response.ts'
import { waitForResponse } from '../../responses/wait-for-response.ts'
import { ResponseBody } from '../../wire/response.ts'

/** Running code is interrupted, and killed two seconds later: the answer usually shows the end. */
const WAIT_SECONDS = 5

export const cancelResponseRoute = defineRoute({
  method: 'post',
  path: '/v1/responses/{response_id}/cancel',
  operationId: 'cancelResponse',
  tag: 'Responses',
  summary: 'Cancel a background response',
  description: 'Idempotent.',
  answers: { 200: { description: 'The response as it is now.', schema: ResponseBody } },
  refusals: ['response_not_found'],
  async handle(call) {
    const { deps } = call
    const found = await responseOf(call, call.param('response_id'))
    if (!found.request.background)
      throw new ServiceError('invalid_request', 'Only a response that was made with "background": true can be cancelled.', {
        param: 'response_id',
      })
    const wished = (await cancelResponse(deps, found.tenant, found.id)) ?? found
    const row = await waitForResponse(deps, wished, { seconds: WAIT_SECONDS, signal: call.request.signal })
    return json(200, renderResponse(await loadForRendering(deps.objects, row, row.request.include), row.request))
  },
})
