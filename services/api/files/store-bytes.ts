import { createHash } from 'node:crypto'
import type { ContainerFile } from '../../core/files/file.ts'
import { normalizeFilePath } from '../../core/files/file-path.ts'
import { supersedeOlderVersions } from '../../core/files/supersede-older-versions.ts'
import { newObjectKey } from '../../core/object-keys.ts'
import type { ApiDeps } from '../deps.ts'
import { newFile } from './new-file.ts'

/** Stores bytes as the current version of a path. Throws ServiceError `invalid_file_name`, or `container_not_found` for a deleted container. */
export async function storeBytes(
  deps: Pick<ApiDeps, 'table' | 'objects' | 'clock'>,
  { tenant, id: containerId }: { readonly tenant: string; readonly id: string },
  path: string,
  bytes: Uint8Array,
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
