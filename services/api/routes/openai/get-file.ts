import { userFileOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { renderUserFile, UserFile } from '../../wire/user-file.ts'

export const getFileRoute = defineRoute({
  method: 'get',
  path: '/v1/files/{user_file_id}',
  operationId: 'getFile',
  tag: 'Files',
  summary: 'Get a file',
  answers: { 200: { description: 'The file.', schema: UserFile } },
  refusals: ['file_not_found'],
  async handle(call) {
    return json(200, renderUserFile(await userFileOf(call, call.param('user_file_id'))))
  },
})
