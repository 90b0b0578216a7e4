import { ServiceError } from '../../../model/errors.ts'
import { newId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { newObjectKey } from '../../../model/object-keys.ts'
import type { Upload, UploadPart } from '../../../model/files/upload.ts'
import { FORM_OVERHEAD_BYTES, receiveMultipart, type FormRules } from '../../../http/receive-multipart.ts'
import { mediaType, refuseAnnounced, refuseEncoded } from '../../../http/read-body.ts'
import type { Call } from '../../../http/route.ts'

const RULES: FormRules = { maxBytes: LIMITS.maxUploadPartBytes, part: 'data', advice: 'Send smaller parts.' }

/** Throws ServiceError for an upload that no longer accepts parts. */
export function refuseEnded(upload: Upload, now: number): void {
  const status = upload.status === 'pending' && upload.expiresAt <= now ? 'expired' : upload.status
  if (status !== 'pending')
    throw new ServiceError('invalid_request', `The upload is ${status}. Start a new one with POST /v1/uploads.`, { param: 'upload_id' })
}

/** Stores one part. Parts may arrive in any order and concurrently. Throws ServiceError; then no part is stored. */
export async function receivePart(
  { deps, caller, request }: Pick<Call, 'deps' | 'caller' | 'request'>,
  upload: Upload,
): Promise<UploadPart> {
  refuseEncoded(request)
  if (mediaType(request) !== 'multipart/form-data')
    throw new ServiceError('unsupported_media_type', 'Send the part as multipart/form-data in a part named "data".')
  refuseAnnounced(request, RULES.maxBytes + FORM_OVERHEAD_BYTES)
  const before = await deps.table.uploads.parts(caller.tenant, upload.id)
  if (before.length >= LIMITS.maxUploadParts)
    throw new ServiceError('invalid_request', `The upload already has ${LIMITS.maxUploadParts} parts, the maximum. Send larger parts.`, {
      param: 'data',
    })
  const objectKey = newObjectKey(caller.tenant, 'parts', upload.id)
  const { file } = await receiveMultipart(deps.objects, request, { objectKey, rules: RULES })
  if (file === null)
    throw new ServiceError('invalid_request', 'The form has no data. Send the bytes in a part named "data", with a file name.', {
      param: 'data',
    })
  const total = before.reduce((sum, part) => sum + part.bytes, file.bytes)
  if (total > upload.bytes) {
    await deps.objects.delete(objectKey)
    throw new ServiceError(
      'invalid_request',
      `With this part the upload would have ${total} bytes; ${upload.bytes} were announced. Start a new upload with the right size.`,
      {
        param: 'data',
      },
    )
  }
  const part: UploadPart = {
    v: 1,
    tenant: caller.tenant,
    uploadId: upload.id,
    id: newId('part'),
    bytes: file.bytes,
    createdAt: deps.clock.now(),
    objectKey,
  }
  await deps.table.uploads.addPart(part)
  return part
}
