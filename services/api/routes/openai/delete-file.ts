import { objectPrefix } from '../../../core/object-keys.ts'
import { userFileOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { deletedSchema } from '../../wire/list.ts'

export const deleteFileRoute = defineRoute({
  method: 'delete',
  path: '/v1/files/{user_file_id}',
  operationId: 'deleteFile',
  tag: 'Files',
  summary: 'Delete a file',
  description: 'Copies of it in containers stay.',
  answers: { 200: { description: 'It is gone.', schema: deletedSchema('file') } },
  refusals: ['file_not_found'],
  async handle(call) {
    const { deps } = call
    const { tenant, id } = await userFileOf(call, call.param('user_file_id'))
    await deps.objects.deletePrefix(objectPrefix(tenant, id))
    await deps.table.userFiles.remove(tenant, id)
    return json(200, { id, object: 'file', deleted: true })
  },
})
