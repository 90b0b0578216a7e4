import { removeResponse } from '../../../core/responses/remove-response.ts'
import { responseOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { cancelResponse } from '../../responses/cancel-response.ts'
import { waitForResponse } from '../../responses/wait-for-response.ts'
import { deletedSchema } from '../../wire/list.ts'

/** A step that works on it sees the wish within a second; what it wrote after the removal would stay for ever. */
const WAIT_SECONDS = 5

export const deleteResponseRoute = defineRoute({
  method: 'delete',
  path: '/v1/responses/{response_id}',
  operationId: 'deleteResponse',
  tag: 'Responses',
  summary: 'Delete a response',
  description: 'Ends it if it still works. Its container and files stay.',
  answers: { 200: { description: 'It is gone.', schema: deletedSchema('response') } },
  refusals: ['response_not_found'],
  async handle(call) {
    const { deps } = call
    const { tenant, id } = await responseOf(call, call.param('response_id'))
    const wished = await cancelResponse(deps, tenant, id)
    if (wished !== null) await waitForResponse(deps, wished, { seconds: WAIT_SECONDS, signal: call.request.signal })
    await removeResponse(deps, tenant, id)
    return json(200, { id, object: 'response', deleted: true })
  },
})
