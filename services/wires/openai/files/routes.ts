import { visibleTo, userFileOf } from '../../../operations/access.ts'
import { answerWithBytes } from '../../../http/answer-with-bytes.ts'
import { collectPage } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { listOf, listSchema, MAX_PAGE, pageOf, deletedSchema } from '../../../http/schemas.ts'
import { receiveUserFile } from './receive-file.ts'
import { renderUserFile, UserFile, UserFileForm, UserFileQuery } from './schema.ts'
import { hasExpired } from '../../../model/files/user-file.ts'
import { objectPrefix } from '../../../model/object-keys.ts'

const createFileRoute = defineRoute({
  method: 'post',
  path: '/v1/files',
  auth: 'session',
  scope: 'files',
  operationId: 'createFile',
  tag: 'Files',
  summary: 'Upload a file',
  description: 'Kept outside any container, to be named in `file_ids` and `input_file`. In parts: `POST /v1/uploads`.',
  streamed: {
    contentType: 'multipart/form-data',
    schema: UserFileForm,
    description: 'A form with the part `file` and the field `purpose`.',
  },
  creates: 'file',
  answers: { 200: { description: 'The file.', schema: UserFile } },
  errors: ['invalid_file_name'],
  async handle(call) {
    const file = await receiveUserFile(call)
    call.note('file_id', file.id)
    call.note('bytes', file.bytes)
    return json(200, renderUserFile(file))
  },
})

const DEFAULT_FILES = 100

const listFilesRoute = defineRoute({
  method: 'get',
  path: '/v1/files',
  auth: 'session',
  scope: 'read',
  operationId: 'listFiles',
  tag: 'Files',
  summary: 'List files',
  query: UserFileQuery,
  answers: { 200: { description: 'A page of files.', schema: listSchema(UserFile, 'UserFileList') } },
  async handle({ deps, caller, query }) {
    const now = deps.clock.now()
    const isVisible = visibleTo(caller, 'read')
    const page = await collectPage(
      { ...pageOf(query), limit: Math.min(query.limit ?? DEFAULT_FILES, MAX_PAGE) },
      (request) => deps.table.userFiles.list(caller.tenant, request),
      (row) => isVisible(row) && !hasExpired(row, now) && (query.purpose === undefined || row.purpose === query.purpose),
    )
    return json(200, listOf(page.rows.map(renderUserFile), page.hasMore))
  },
})

const getFileRoute = defineRoute({
  method: 'get',
  path: '/v1/files/{user_file_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getFile',
  tag: 'Files',
  summary: 'Get a file',
  answers: { 200: { description: 'The file.', schema: UserFile } },
  errors: ['file_not_found'],
  async handle(call) {
    return json(200, renderUserFile(await userFileOf(call, call.param('user_file_id'), 'read')))
  },
})

const deleteFileRoute = defineRoute({
  method: 'delete',
  path: '/v1/files/{user_file_id}',
  auth: 'session',
  scope: 'files',
  operationId: 'deleteFile',
  tag: 'Files',
  summary: 'Delete a file',
  description: 'Copies of the file in containers remain.',
  answers: { 200: { description: 'The file is deleted.', schema: deletedSchema('file') } },
  errors: ['file_not_found'],
  async handle(call) {
    const { deps } = call
    const { tenant, id } = await userFileOf(call, call.param('user_file_id'), 'files')
    await deps.objects.deletePrefix(objectPrefix(tenant, id))
    await deps.table.userFiles.remove(tenant, id)
    return json(200, { id, object: 'file', deleted: true })
  },
})

const fileContentRoute = defineRoute({
  method: 'get',
  path: '/v1/files/{user_file_id}/content',
  auth: 'session',
  scope: 'files',
  operationId: 'getFileContent',
  tag: 'Files',
  summary: 'Download a file',
  answers: {
    302: {
      description: 'Redirects to the bytes, at a URL that works without a key for a few minutes.',
      headers: { Location: 'The presigned URL.' },
    },
  },
  errors: ['file_not_found'],
  async handle(call) {
    const file = await userFileOf(call, call.param('user_file_id'), 'files')
    call.note('file_id', file.id)
    return answerWithBytes(call, file)
  },
})

export const fileRoutes: readonly AnyRoute[] = [createFileRoute, listFilesRoute, getFileRoute, deleteFileRoute, fileContentRoute]
