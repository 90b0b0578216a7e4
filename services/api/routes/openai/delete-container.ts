import { containerOf } from '../../access.ts'
import { endContainer } from '../../containers/end-container.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { deletedSchema } from '../../wire/list.ts'

export const deleteContainerRoute = defineRoute({
  method: 'delete',
  path: '/v1/containers/{container_id}',
  operationId: 'deleteContainer',
  tag: 'Containers',
  summary: 'Delete a container',
  description: 'Ends what runs in it, then removes its files, variables and history. From the answer on it does not exist any more.',
  answers: { 200: { description: 'It is gone.', schema: deletedSchema('container.deleted') } },
  refusals: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const { id } = await containerOf(call, call.param('container_id'))
    await endContainer(deps, caller.tenant, id)
    return json(200, { id, object: 'container.deleted', deleted: true })
  },
})
