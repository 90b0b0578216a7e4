import { containerOf, fileOf } from '../../../operations/access.ts'
import { ContainerFile, renderContainerFile } from '../../../http/container-file.ts'
import { deleteFile } from '../../../operations/files/delete-file.ts'
import { answerWithBytes } from '../../../http/answer-with-bytes.ts'
import { pageOfList } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { listOf, ListQuery, listSchema, pageOf, deletedSchema } from '../../../http/schemas.ts'
import { CopyFileBody, FileForm } from './schema.ts'
import { uploadFile } from './upload-file.ts'
import { fileName } from '../../../model/files/file-path.ts'

const uploadContainerFileRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/files',
  auth: 'session',
  scope: 'files',
  operationId: 'createContainerFile',
  tag: 'Container files',
  summary: 'Put a file into a container',
  description: 'A multipart form with the file, or JSON `{"file_id": "…"}` for a copy. A file at an existing path becomes its new version.',
  streamed: {
    contentType: 'multipart/form-data',
    schema: FileForm,
    json: CopyFileBody,
    description: 'A form with the part `file`, or JSON `{"file_id": "…", "path"?: "…"}`.',
  },
  creates: 'containerFile',
  answers: { 200: { description: 'The file.', schema: ContainerFile } },
  errors: ['container_not_found', 'file_not_found', 'invalid_file_name'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'), 'files')
    const file = await uploadFile(call, container.id)
    call.note('file_id', file.id)
    call.note('bytes', file.bytes)
    return json(200, renderContainerFile(file))
  },
})

const listContainerFilesRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/files',
  auth: 'session',
  scope: 'read',
  operationId: 'listContainerFiles',
  tag: 'Container files',
  summary: 'List the files of a container',
  description: 'The current versions of the files in `/mnt/data`.',
  query: ListQuery,
  answers: { 200: { description: 'A page of files.', schema: listSchema(ContainerFile, 'ContainerFileList') } },
  errors: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'read')
    const files = await deps.table.files.all(caller.tenant, container.id)
    const page = pageOfList(files, pageOf(call.query), (row) => row.isCurrent && row.state === 'stored')
    return json(200, listOf(page.rows.map(renderContainerFile), page.hasMore))
  },
})

const getContainerFileRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/files/{file_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getContainerFile',
  tag: 'Container files',
  summary: 'Get a file of a container',
  description: 'A superseded version keeps its id and its bytes.',
  answers: { 200: { description: 'The file.', schema: ContainerFile } },
  errors: ['container_not_found', 'file_not_found'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'), 'read')
    return json(200, renderContainerFile(await fileOf(call, { containerId: container.id, id: call.param('file_id') }, 'read')))
  },
})

const deleteContainerFileRoute = defineRoute({
  method: 'delete',
  path: '/v1/containers/{container_id}/files/{file_id}',
  auth: 'session',
  scope: 'files',
  operationId: 'deleteContainerFile',
  tag: 'Container files',
  summary: 'Delete a file of a container',
  description: 'Links to the file stop working. It is removed from the sandbox before the next execution.',
  answers: { 200: { description: 'The file is deleted.', schema: deletedSchema('container.file.deleted') } },
  errors: ['container_not_found', 'file_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'files')
    const now = deps.clock.now()
    const file = await fileOf(call, { containerId: container.id, id: call.param('file_id') }, 'files').catch(async (error: unknown) => {
      // An earlier call may have failed before it changed the container's row.
      const row = await deps.table.files.get(caller.tenant, container.id, call.param('file_id'))
      if (row?.state === 'deleted') await deps.table.containers.filesChanged(caller.tenant, container.id, now)
      throw error
    })
    await deleteFile(deps, file)
    return json(200, { id: file.id, object: 'container.file.deleted', deleted: true })
  },
})

const containerFileContentRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/files/{file_id}/content',
  auth: 'session',
  scope: 'files',
  operationId: 'getContainerFileContent',
  tag: 'Container files',
  summary: 'Download a file',
  answers: {
    302: {
      description: 'Redirects to the bytes, at a URL that works without a key for a few minutes.',
      headers: { Location: 'The presigned URL.' },
    },
  },
  errors: ['container_not_found', 'file_not_found'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'), 'files')
    const file = await fileOf(call, { containerId: container.id, id: call.param('file_id') }, 'files')
    call.note('file_id', file.id)
    return answerWithBytes(call, { ...file, filename: fileName(file.path) })
  },
})

export const containerFileRoutes: readonly AnyRoute[] = [
  containerFileContentRoute,
  deleteContainerFileRoute,
  getContainerFileRoute,
  listContainerFilesRoute,
  uploadContainerFileRoute,
]
