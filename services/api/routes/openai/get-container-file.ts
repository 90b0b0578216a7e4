import { containerOf, fileOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { ContainerFile, renderContainerFile } from '../../wire/container-file.ts'

export const getContainerFileRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/files/{file_id}',
  operationId: 'getContainerFile',
  tag: 'Container files',
  summary: 'Get a file of a container',
  description: 'A superseded version keeps its id and its bytes.',
  answers: { 200: { description: 'The file.', schema: ContainerFile } },
  refusals: ['container_not_found', 'file_not_found'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'))
    return json(200, renderContainerFile(await fileOf(call, container.id, call.param('file_id'))))
  },
})
