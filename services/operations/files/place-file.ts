import type { ContainerFile } from '../../model/files/file.ts'
import { newId } from '../../model/ids.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { ByteStream } from '../../model/byte-stream.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'
import { supersedeOlderVersions } from './supersede-older-versions.ts'

/**
 * Stores bytes in a container as a user's file, as a new version of its path. A caller whose step may be repeated passes `id`. Throws ServiceError when
 * the container has too many files or was deleted.
 */
export async function placeFile(
  ports: { readonly table: Pick<Table, 'files' | 'containers'>; readonly objects: ObjectStore },
  wanted: Pick<ContainerFile, 'tenant' | 'path' | 'bytes' | 'sha256' | 'mime'> & { readonly body: Uint8Array | ByteStream },
  { containerId, id, now }: { readonly containerId: string; readonly id?: string; readonly now: number },
): Promise<ContainerFile> {
  const { body, ...described } = wanted
  const file: ContainerFile = {
    ...described,
    v: 1,
    id: id ?? newId('containerFile'),
    containerId,
    source: 'user',
    createdAt: now,
    objectKey: newObjectKey(wanted.tenant, 'files', containerId),
    executionId: null,
    isCurrent: true,
    state: 'stored',
    sandboxGeneration: 0,
    ...(id === undefined ? {} : { isBrought: true }),
  }
  await ports.objects.put(file.objectKey, body, { contentType: file.mime })
  await ports.table.files.put(file)
  await supersedeOlderVersions(ports, file, now)
  return file
}
