import { createHash } from 'node:crypto'
import type { ContainerFile } from '../../model/files/file.ts'
import { normalizeFilePath } from '../../model/files/file-path.ts'
import { supersedeOlderVersions } from './supersede-older-versions.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { Table } from '../../ports/table.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Clock } from '../../ports/clock.ts'
import { newFile } from './new-file.ts'

/** Stores bytes as the current version of a path. Throws ServiceError `invalid_file_name`, or `container_not_found` for a deleted container. */
export async function storeBytes(
  deps: { readonly table: Table; readonly objects: ObjectStore; readonly clock: Clock },
  { tenant, id: containerId }: { readonly tenant: string; readonly id: string },
  { path, bytes }: { readonly path: string; readonly bytes: Uint8Array },
): Promise<ContainerFile> {
  const normalized = normalizeFilePath(path)
  const objectKey = newObjectKey(tenant, 'files', containerId)
  await deps.objects.put(objectKey, bytes, { contentType: 'application/octet-stream' })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const file = newFile(deps, { tenant, containerId, path: normalized, bytes: bytes.byteLength, sha256, objectKey, state: 'stored' })
  await deps.table.files.put(file)
  await supersedeOlderVersions(deps, file, deps.clock.now())
  return file
}
