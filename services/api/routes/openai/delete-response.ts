import { objectPrefix } from '../../../core/object-keys.ts'
import { responseOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { cancelResponse } from '../../responses/cancel-response.ts'
import { deletedSchema } from '../../wire/list.ts'

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
    await cancelResponse(deps, tenant, id)
    await deps.table.responses.remove(tenant, id)
    await Promise.all([deps.table.events.removeAll({ kind: 'response', tenant, id }), deps.objects.deletePrefix(objectPrefix(tenant, id))])
    return json(200, { id, object: 'response', deleted: true })
  },
})
