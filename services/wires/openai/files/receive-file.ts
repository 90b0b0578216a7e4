import { FORM_OVERHEAD_BYTES, receiveMultipart, type FormRules, type ReceivedForm } from '../../../http/receive-multipart.ts'
import { claimId } from '../../../http/claim-id.ts'
import type { ClaimedId } from '../../../operations/claimed-id.ts'
import { mediaType, refuseAnnounced, refuseEncoded } from '../../../http/read-body.ts'
import type { Call } from '../../../http/route.ts'
import { validate } from '../../../http/validate.ts'
import { UserFileFields } from './schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import { fileName, normalizeFilePath } from '../../../model/files/file-path.ts'
import { mimeOf } from '../../../model/files/mime.ts'
import type { UserFile } from '../../../model/files/user-file.ts'
import { newId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { newObjectKey } from '../../../model/object-keys.ts'

const RULES: FormRules = { maxBytes: LIMITS.maxFileBytes, part: 'file', advice: 'Split it.' }

/** A file's own name, without folders. Throws ServiceError `invalid_file_name`. */
export const plainName = (raw: string): string => fileName(normalizeFilePath(raw))

/** Stores the file of a form. Throws ServiceError; then nothing is stored. */
export async function receiveUserFile(call: Pick<Call, 'deps' | 'caller' | 'request'>): Promise<UserFile> {
  const { deps, caller, request } = call
  refuseEncoded(request)
  if (mediaType(request) !== 'multipart/form-data')
    throw new ServiceError('unsupported_media_type', 'Send the file as multipart/form-data in a part named "file", with a field "purpose".')
  refuseAnnounced(request, RULES.maxBytes + FORM_OVERHEAD_BYTES)
  const now = deps.clock.now()
  const id = newId('file')
  const objectKey = newObjectKey(caller.tenant, 'files', id)
  const form = await receiveMultipart(deps.objects, request, { objectKey, rules: RULES })
  try {
    const { file } = form
    if (file === null)
      throw new ServiceError('invalid_request', 'The form has no file. Send the bytes in a part named "file", with a file name.', {
        param: 'file',
      })
    const { purpose, expires_after } = validate(UserFileFields(), fieldsOf(form), 'body')
    const filename = plainName(file.filename)
    const content = JSON.stringify([filename, purpose, expires_after ?? null, file.sha256])
    const earlier = await earlierFile(call, await claimId(call, 'file', { body: content, id }))
    if (earlier !== null) {
      await deps.objects.delete(objectKey)
      return earlier
    }
    const row: UserFile = {
      v: 1,
      tenant: caller.tenant,
      subject: caller.subject,
      id,
      filename,
      bytes: file.bytes,
      sha256: file.sha256,
      mime: mimeOf(filename),
      purpose,
      createdAt: now,
      expiresAt: expires_after === undefined ? null : now + expires_after.seconds * 1000,
      objectKey,
    }
    await deps.table.userFiles.create(row)
    return row
  } catch (error) {
    // A failed write may have succeeded in the table. The row is removed first, so that no row exists without its bytes.
    await deps.table.userFiles.remove(caller.tenant, id)
    await deps.objects.delete(objectKey)
    throw error
  }
}

/** The file of an earlier call with this claim. */
const earlierFile = ({ deps, caller }: Pick<Call, 'deps' | 'caller'>, { id, isReplay }: ClaimedId): Promise<UserFile | null> =>
  isReplay ? deps.table.userFiles.get(caller.tenant, id) : Promise.resolve(null)

/** `expires_after[anchor]` is how forms write what JSON nests. */
function fieldsOf({ fields }: ReceivedForm): Readonly<Record<string, unknown>> {
  const anchor = fields['expires_after[anchor]']
  const seconds = fields['expires_after[seconds]']
  const isExpiring = anchor !== undefined || seconds !== undefined
  return { purpose: fields['purpose'], ...(isExpiring ? { expires_after: { anchor, seconds: wholeNumber(seconds) } } : {}) }
}

const wholeNumber = (text: string | undefined): number | string | undefined =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : text
