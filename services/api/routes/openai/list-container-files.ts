import { containerOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { pageOfList } from '../../http/page-of-list.ts'
import { defineRoute } from '../../http/route.ts'
import { ContainerFile, renderContainerFile } from '../../wire/container-file.ts'
import { listOf, ListQuery, listSchema, pageOf } from '../../wire/list.ts'

export const listContainerFilesRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/files',
  operationId: 'listContainerFiles',
  tag: 'Container files',
  summary: 'List the files of a container',
  description: 'What is in `/mnt/data` now: current versions only.',
  query: ListQuery,
  answers: { 200: { description: 'A page of files.', schema: listSchema(ContainerFile, 'ContainerFileList') } },
  refusals: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'))
    const files = await deps.table.files.all(caller.tenant, container.id)
    const page = pageOfList(files, pageOf(call.query), (row) => row.isCurrent && row.state === 'stored')
    return json(200, listOf(page.rows.map(renderContainerFile), page.hasMore))
  },
})
