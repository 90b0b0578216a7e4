import { ServiceError } from '../../../core/errors.ts'
import { normalizeFilePath } from '../../../core/files/file-path.ts'
import { LIMITS } from '../../../core/limits.ts'
import { newObjectKey } from '../../../core/object-keys.ts'
import { containerOf } from '../../access.ts'
import { newFile } from '../../files/upload-file.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { UploadUrl, UploadUrlBody } from '../../wire/upload.ts'

export const createUploadUrlRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/files/upload_url',
  operationId: 'createUploadUrl',
  tag: 'Container files',
  summary: 'Get a URL for a large upload',
  description: 'PUT the bytes to the URL with the headers given, then call `complete`: before that the file is not there.',
  body: UploadUrlBody,
  answers: { 200: { description: 'Where to PUT.', schema: UploadUrl } },
  refusals: ['container_not_found', 'invalid_file_name'],
  async handle(call) {
    const { deps, caller, body } = call
    const path = normalizeFilePath(body.path)
    if (body.bytes > LIMITS.maxFileBytes)
      throw new ServiceError('request_too_large', `The file is ${body.bytes} bytes; at most ${LIMITS.maxFileBytes} are taken. Split it.`, {
        param: 'bytes',
      })
    const container = await containerOf(call, call.param('container_id'))
    const objectKey = newObjectKey(caller.tenant, 'files', container.id)
    const file = newFile(deps, {
      tenant: caller.tenant,
      containerId: container.id,
      path,
      bytes: body.bytes,
      sha256: body.sha256?.toLowerCase() ?? null,
      objectKey,
      state: 'awaiting_upload',
    })
    const upload = await deps.objects.presignPut(objectKey, {
      publicUrl: call.publicUrl,
      bytes: body.bytes,
      contentType: file.mime,
      expiresSeconds: LIMITS.presignedSeconds,
    })
    await deps.table.files.put(file)
    call.note('file_id', file.id)
    const expiresAt = new Date(deps.clock.now() + LIMITS.presignedSeconds * 1000).toISOString()
    return json(200, { id: file.id, object: 'container.file.upload', url: upload.url, headers: upload.headers, expires_at: expiresAt })
  },
})
