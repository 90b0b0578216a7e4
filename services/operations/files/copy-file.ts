import { ServiceError } from '../../model/errors.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import type { FileSource } from './file-source.ts'
import { placeFile } from './place-file.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'

/**
 * Copies a file with its bytes into a container, because a container's objects are deleted with it. A caller whose step may be repeated passes `id`.
 * Throws ServiceError `file_not_found` when the bytes no longer exist, and the errors of `supersedeOlderVersions`.
 */
export async function copyFile(
  ports: { readonly table: Pick<Table, 'files' | 'containers'>; readonly objects: ObjectStore },
  source: FileSource,
  target: { readonly containerId: string; readonly path?: string; readonly id?: string; readonly now: number },
): Promise<ContainerFile> {
  const object = await ports.objects.get(source.objectKey)
  if (object === null) throw new ServiceError('file_not_found', `The content of file ${source.id} no longer exists. Upload it again.`)
  const { tenant, bytes, sha256, mime } = source
  return placeFile(ports, { tenant, path: target.path ?? source.path, bytes, sha256, mime, body: object.body }, target)
}
