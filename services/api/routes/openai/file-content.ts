import { userFileOf } from '../../access.ts'
import { redirectTo } from '../../http/redirect.ts'
import { defineRoute } from '../../http/route.ts'
import { presigner } from '../../render/presign.ts'

export const fileContentRoute = defineRoute({
  method: 'get',
  path: '/v1/files/{user_file_id}/content',
  operationId: 'getFileContent',
  tag: 'Files',
  summary: 'Download a file',
  answers: {
    302: { description: 'To the bytes, by a URL that works without a key for a few minutes.', headers: { Location: 'The presigned URL.' } },
  },
  refusals: ['file_not_found'],
  async handle(call) {
    const file = await userFileOf(call, call.param('user_file_id'))
    call.note('file_id', file.id)
    return redirectTo(await presigner(call.deps.objects, call.publicUrl)(file.objectKey, file.filename, file.mime))
  },
})
