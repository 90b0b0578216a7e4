import { containerOf, fileOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { deletedSchema } from '../../wire/list.ts'

export const deleteContainerFileRoute = defineRoute({
  method: 'delete',
  path: '/v1/containers/{container_id}/files/{file_id}',
  operationId: 'deleteContainerFile',
  tag: 'Container files',
  summary: 'Delete a file of a container',
  description: 'Links to it stop working. The sandbox loses it before the next execution.',
  answers: { 200: { description: 'It is gone.', schema: deletedSchema('container.file.deleted') } },
  refusals: ['container_not_found', 'file_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'))
    const now = deps.clock.now()
    const file = await fileOf(call, container.id, call.param('file_id')).catch(async (error: unknown) => {
      // An earlier call may have broken off before the sandbox was told.
      const row = await deps.table.files.get(caller.tenant, container.id, call.param('file_id'))
      if (row?.state === 'deleted') await deps.table.containers.filesChanged(caller.tenant, container.id, now)
      throw error
    })
    await deps.table.files.patch(caller.tenant, container.id, file.id, { state: 'deleted', isCurrent: false, endedAt: now })
    if (file.isCurrent) await deps.table.containers.filesChanged(caller.tenant, container.id, now)
    await deps.objects.delete(file.objectKey)
    return json(200, { id: file.id, object: 'container.file.deleted', deleted: true })
  },
})
