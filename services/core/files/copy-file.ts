import { ServiceError } from '../errors.ts'
import type { ContainerFile } from './file.ts'
import type { FileSource } from './file-source.ts'
import { placeFile } from './place-file.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Table } from '../ports/table.ts'

/**
 * Copies a file into a container, bytes and all: each container's objects live and die with it. `id` is given by a caller whose
 * step may be repeated. Throws ServiceError: `file_not_found` when the bytes are gone, and as `settleVersions` does.
 */
export async function copyFile(
  ports: { readonly table: Table; readonly objects: ObjectStore },
  source: FileSource,
  target: { readonly containerId: string; readonly path?: string; readonly id?: string },
  now: number,
): Promise<ContainerFile> {
  const object = await ports.objects.get(source.objectKey)
  if (object === null) throw new ServiceError('file_not_found', `The bytes of file ${source.id} are gone. Upload it again.`)
  const { tenant, bytes, sha256, mime } = source
  return placeFile(ports, { tenant, path: target.path ?? source.path, bytes, sha256, mime, body: object.body }, target, now)
}
