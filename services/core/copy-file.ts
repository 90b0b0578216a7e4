import { ServiceError } from './errors.ts'
import type { ContainerFile } from './file.ts'
import type { FileSource } from './file-source.ts'
import { newId } from './ids.ts'
import { newObjectKey } from './object-keys.ts'
import type { ObjectStore } from './ports/object-store.ts'
import type { Table } from './ports/table.ts'
import { settleVersions } from './settle-versions.ts'

/**
 * Copies a file into a container, bytes and all: each container's objects live and die with it. `id` is given by a caller whose
 * step may be repeated. Throws ServiceError `file_not_found` when the bytes are gone.
 */
export async function copyFile(
  ports: { readonly table: Table; readonly objects: ObjectStore },
  source: FileSource,
  target: { readonly containerId: string; readonly path?: string; readonly id?: string },
  now: number,
): Promise<ContainerFile> {
  const object = await ports.objects.get(source.objectKey)
  if (object === null) throw new ServiceError('file_not_found', `The bytes of file ${source.id} are gone. Upload it again.`)
  const file: ContainerFile = {
    v: 1,
    tenant: source.tenant,
    id: target.id ?? newId('containerFile'),
    containerId: target.containerId,
    path: target.path ?? source.path,
    bytes: source.bytes,
    sha256: source.sha256,
    mime: source.mime,
    source: 'user',
    createdAt: now,
    objectKey: newObjectKey(source.tenant, 'files', target.containerId),
    executionId: null,
    isCurrent: true,
    state: 'stored',
    sandboxGeneration: 0,
  }
  await ports.objects.put(file.objectKey, object.body, { contentType: file.mime })
  await ports.table.files.put(file)
  await settleVersions(ports.table, file, now)
  return file
}
