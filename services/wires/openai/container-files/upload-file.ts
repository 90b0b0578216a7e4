import { newFile } from '../../../operations/files/new-file.ts'
import { findFile } from '../../../operations/files/find-file.ts'
import { FORM_OVERHEAD_BYTES, receiveMultipart, type FormRules, type ReceivedForm } from '../../../http/receive-multipart.ts'
import { claimId } from '../../../http/claim-id.ts'
import type { ClaimedId } from '../../../operations/claimed-id.ts'
import { parseJson } from '../../../http/parse-json.ts'
import { mediaType, readBody, refuseAnnounced, refuseEncoded } from '../../../http/read-body.ts'
import type { Call } from '../../../http/route.ts'
import { validate } from '../../../http/validate.ts'
import { CopyFileBody } from './schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import { copyFile } from '../../../operations/files/copy-file.ts'
import { normalizeFilePath } from '../../../model/files/file-path.ts'
import type { ContainerFile } from '../../../model/files/file.ts'
import { supersedeOlderVersions } from '../../../operations/files/supersede-older-versions.ts'
import { LIMITS } from '../../../model/limits.ts'
import { newObjectKey } from '../../../model/object-keys.ts'

const RULES: FormRules = {
  maxBytes: LIMITS.maxMultipartFileBytes,
  part: 'file',
  advice: 'Split it.',
}

type UploadCall = Pick<Call, 'deps' | 'caller' | 'request'>

/** A file from a form, or a copy of an existing one. Throws ServiceError. */
export async function uploadFile(call: UploadCall, containerId: string): Promise<ContainerFile> {
  refuseEncoded(call.request)
  const type = mediaType(call.request)
  if (type === 'multipart/form-data') return fromForm(call, containerId)
  if (type === 'application/json') {
    const body = validate(CopyFileBody(), parseJson(await readBody(call.request, LIMITS.maxJsonBytes)), 'body')
    return copy(call, containerId, { fileId: body.file_id, path: body.path })
  }
  throw new ServiceError(
    'unsupported_media_type',
    'Send the file as multipart/form-data in a part named "file", or {"file_id": "…"} as JSON.',
  )
}

async function copy(
  call: UploadCall,
  containerId: string,
  { fileId, path }: { readonly fileId: string; readonly path: string | null | undefined },
): Promise<ContainerFile> {
  const source = await findFile(call, fileId, { scope: 'files', param: 'file_id' })
  const claimed = await claimId(call, 'containerFile', { body: JSON.stringify([fileId, path ?? null]) })
  const earlier = await earlierFile(call, containerId, claimed)
  if (earlier !== null) return earlier
  const target = { containerId, id: claimed.id, ...(path ? { path: normalizeFilePath(path) } : {}) }
  return copyFile(call.deps, source, { ...target, now: call.deps.clock.now() })
}

async function fromForm(call: UploadCall, containerId: string): Promise<ContainerFile> {
  const { deps, caller, request } = call
  refuseAnnounced(request, LIMITS.maxMultipartFileBytes + FORM_OVERHEAD_BYTES)
  const objectKey = newObjectKey(caller.tenant, 'files', containerId)
  const form = await receiveMultipart(deps.objects, request, { objectKey, rules: RULES })
  if (form.file === null) {
    const fileId = form.fields['file_id']
    if (fileId) return copy(call, containerId, { fileId, path: form.fields['path'] })
    throw new ServiceError('invalid_request', 'The form has no file. Send the bytes in a part named "file", with a file name.', {
      param: 'file',
    })
  }
  const { bytes, sha256, filename } = form.file
  let path: string
  try {
    path = pathOf(form, filename)
  } catch (error) {
    await deps.objects.delete(objectKey)
    throw error
  }
  const claimed = await claimId(call, 'containerFile', { body: JSON.stringify([path, sha256]) }).catch(async (error: unknown) => {
    await deps.objects.delete(objectKey)
    throw error
  })
  const earlier = await earlierFile(call, containerId, claimed)
  if (earlier !== null) {
    await deps.objects.delete(objectKey)
    return earlier
  }
  const { id } = claimed
  const file = { ...newFile(deps, { tenant: caller.tenant, containerId, path, bytes, sha256, objectKey, state: 'stored' }), id }
  // A failed write may have succeeded in the table, so its bytes are kept. The client gets an error and sends them again.
  await deps.table.files.put(file)
  await supersedeOlderVersions(deps, file, deps.clock.now())
  return file
}

/** The file of an earlier call with this claim. */
async function earlierFile({ deps, caller }: UploadCall, containerId: string, { id, isReplay }: ClaimedId): Promise<ContainerFile | null> {
  return isReplay ? deps.table.files.get(caller.tenant, containerId, id) : null
}

/** The field `path` may have folders; without it, the file's own name is used. */
const pathOf = (form: ReceivedForm, filename: string): string => normalizeFilePath(form.fields['path'] || filename)
