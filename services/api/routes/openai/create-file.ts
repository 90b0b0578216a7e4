import { receiveUserFile } from '../../files/receive-user-file.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { renderUserFile, UserFile, UserFileForm } from '../../wire/user-file.ts'

export const createFileRoute = defineRoute({
  method: 'post',
  path: '/v1/files',
  operationId: 'createFile',
  tag: 'Files',
  summary: 'Upload a file',
  description: 'Kept outside any container, to be named in `file_ids` and `input_file`. In parts: `POST /v1/uploads`.',
  streamed: {
    contentType: 'multipart/form-data',
    schema: UserFileForm,
    description: 'A form with the part `file` and the field `purpose`.',
  },
  answers: { 200: { description: 'The file.', schema: UserFile } },
  refusals: ['invalid_file_name'],
  async handle(call) {
    const file = await receiveUserFile(call)
    call.note('file_id', file.id)
    call.note('bytes', file.bytes)
    return json(200, renderUserFile(file))
  },
})
