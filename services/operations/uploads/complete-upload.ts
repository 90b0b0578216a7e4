import { ServiceError } from '../../model/errors.ts'
import { derivedId } from '../../model/ids.ts'
import { mimeOf } from '../../model/files/mime.ts'
import { newObjectKey, objectPrefix } from '../../model/object-keys.ts'
import type { Upload } from '../../model/files/upload.ts'
import type { UserFile } from '../../model/files/user-file.ts'
import type { Table } from '../../ports/table.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Clock } from '../../ports/clock.ts'
import { joinParts, partsInOrder } from './join-parts.ts'

type Ports = { readonly table: Pick<Table, 'uploads' | 'userFiles'>; readonly objects: ObjectStore; readonly clock: Clock }

/** The deterministic id of the file that an upload becomes. */
const fileIdOf = (upload: Upload): string => derivedId('file', upload.createdAt, `${upload.id}:file`)

/** The file that a completed upload became; null if it was deleted. */
export const fileOfUpload = (ports: { readonly table: Pick<Table, 'userFiles'> }, upload: Upload): Promise<UserFile | null> =>
  ports.table.userFiles.get(upload.tenant, fileIdOf(upload))

/**
 * Creates the file of the named parts. Repeated or concurrent calls create one file: its row is created once, and a later call removes its own bytes.
 * Throws ServiceError when the parts differ from the announcement; the upload can then be completed again.
 */
export async function completeUpload(
  ports: Ports,
  upload: Upload,
  wanted: { readonly partIds: readonly string[]; readonly md5: string | null },
): Promise<UserFile> {
  const { table, objects, clock } = ports
  const { tenant } = upload
  const parts = partsInOrder(await table.uploads.parts(tenant, upload.id), wanted.partIds)
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  if (bytes !== upload.bytes)
    throw new ServiceError(
      'invalid_request',
      `The parts have ${bytes} bytes in total, not the announced ${upload.bytes}. Add the missing parts, or start a new upload.`,
      {
        param: 'part_ids',
      },
    )
  const id = fileIdOf(upload)
  const objectKey = newObjectKey(tenant, 'files', id)
  const mime = mimeOf(upload.filename)
  const joined = await joinParts(objects, parts, { objectKey, contentType: mime }).catch(async (error: unknown) => {
    await objects.delete(objectKey)
    // A concurrent call has created the file and removed the parts during this read.
    const made = await table.userFiles.get(tenant, id)
    if (made === null) throw error
    return made
  })
  if ('objectKey' in joined) return joined
  if (wanted.md5 !== null && wanted.md5 !== joined.md5) {
    await objects.delete(objectKey)
    throw new ServiceError('invalid_request', 'The MD5 of the file differs from the given one. Check the order of the parts.', {
      param: 'md5',
    })
  }
  const now = clock.now()
  const file: UserFile = {
    v: 1,
    tenant,
    subject: upload.subject,
    id,
    filename: upload.filename,
    bytes: joined.bytes,
    sha256: joined.sha256,
    mime,
    purpose: upload.purpose,
    createdAt: now,
    expiresAt: upload.fileSeconds === null ? null : now + upload.fileSeconds * 1000,
    objectKey,
  }
  const isMine = await table.userFiles.create(file)
  if (!isMine) await objects.delete(objectKey)
  const stored = isMine ? file : ((await table.userFiles.get(tenant, id)) ?? file)
  await settle(ports, upload, stored)
  return stored
}

/** Marks the upload as completed; if it was cancelled meanwhile, the file is removed. */
async function settle({ table, objects }: Ports, upload: Upload, file: UserFile): Promise<void> {
  const { tenant, id } = upload
  const ended = (await table.uploads.end(tenant, id, 'completed')) ?? (await table.uploads.get(tenant, id))
  if (ended?.status === 'cancelled') {
    await table.userFiles.remove(tenant, file.id)
    await objects.deletePrefix(objectPrefix(tenant, file.id))
    throw new ServiceError('invalid_request', 'The upload was cancelled. Start a new one.', { param: 'upload_id' })
  }
  await objects.deletePrefix(objectPrefix(tenant, id))
}
