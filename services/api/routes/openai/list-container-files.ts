import type { ContainerFile as FileRow } from '../../../core/file.ts'
import { containerOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { ContainerFile, renderContainerFile } from '../../wire/container-file.ts'
import { listOf, ListQuery, listSchema, pageOf } from '../../wire/list.ts'

const byAge = (a: FileRow, b: FileRow): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

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
    const { after, limit, order } = pageOf(call.query)
    const current = (await deps.table.files.all(caller.tenant, container.id))
      .filter((row) => row.isCurrent && row.state === 'stored')
      .toSorted(byAge)
    const sorted = order === 'desc' ? current.toReversed() : current
    const at = after === null ? -1 : sorted.findIndex((row) => row.id === after)
    // An unknown cursor gives an empty page, as in every other list.
    const start = after !== null && at === -1 ? sorted.length : at + 1
    const page = sorted.slice(start, start + limit)
    return json(200, listOf(page.map(renderContainerFile), start + limit < sorted.length))
  },
})
