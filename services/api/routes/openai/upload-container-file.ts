import { containerOf } from '../../access.ts'
import { uploadFile } from '../../files/upload-file.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { ContainerFile, renderContainerFile } from '../../wire/container-file.ts'
import { FileForm } from '../../wire/upload.ts'

export const uploadContainerFileRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/files',
  operationId: 'createContainerFile',
  tag: 'Container files',
  summary: 'Put a file into a container',
  description: 'A multipart form with the file, or JSON `{"file_id": "…"}` for a copy. A path that is there already gets a new version.',
  streamed: {
    contentType: 'multipart/form-data',
    schema: FileForm,
    description: 'A form with the part `file`, or JSON `{"file_id": "…", "path"?: "…"}`.',
  },
  answers: { 200: { description: 'The file.', schema: ContainerFile } },
  refusals: ['container_not_found', 'file_not_found', 'invalid_file_name'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'))
    const file = await uploadFile(call, container.id)
    call.note('file_id', file.id)
    call.note('bytes', file.bytes)
    return json(200, renderContainerFile(file))
  },
})
