import { fileName } from '../../../core/files/file-path.ts'
import { containerOf, fileOf } from '../../access.ts'
import { redirectTo } from '../../http/redirect.ts'
import { defineRoute } from '../../http/route.ts'
import { presigner } from '../../render/presign.ts'

export const containerFileContentRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/files/{file_id}/content',
  operationId: 'getContainerFileContent',
  tag: 'Container files',
  summary: 'Download a file',
  answers: {
    302: { description: 'To the bytes, by a URL that works without a key for a few minutes.', headers: { Location: 'The presigned URL.' } },
  },
  refusals: ['container_not_found', 'file_not_found'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'))
    const file = await fileOf(call, container.id, call.param('file_id'))
    call.note('file_id', file.id)
    return redirectTo(await presigner(call.deps.objects, call.publicUrl)(file.objectKey, fileName(file.path), file.mime))
  },
})
