import { ServiceError } from '../../model/errors.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'

type Ports = { readonly table: Pick<Table, 'files' | 'containers'>; readonly objects: Pick<ObjectStore, 'delete'> }

/**
 * Makes the newest version of a path the current one and increments the container's `filesVersion`. Called after the row was written, so that
 * concurrent writers of a path select the same version. Throws ServiceError when the container has too many files or was deleted; the row and
 * its bytes are then removed.
 */
export async function supersedeOlderVersions(ports: Ports, file: ContainerFile, now: number): Promise<void> {
  const { table } = ports
  const current = (await table.files.all(file.tenant, file.containerId)).filter((row) => row.isCurrent)
  if (current.length > LIMITS.maxFilesPerContainer) {
    await takeBack(ports, file)
    throw new ServiceError(
      'invalid_request',
      `The container already has ${LIMITS.maxFilesPerContainer} files, the maximum. Delete some first.`,
      {
        param: 'file',
      },
    )
  }
  await keepNewest(table, current, { paths: new Set([file.path]), now })
  if ((await table.containers.filesChanged(file.tenant, file.containerId, now)) !== null) return
  // The sweep of the deleted container may be over already, so the row and its bytes are removed here.
  await takeBack(ports, file)
  throw new ServiceError('container_not_found', `The container ${file.containerId} was deleted during the upload. Create another one.`)
}

/** If a path has several current versions, the newest stays current, for every caller. `rows` are all current ones, read after the last write. */
export async function keepNewest(
  table: Pick<Table, 'files'>,
  rows: readonly ContainerFile[],
  { paths, now }: { readonly paths: ReadonlySet<string>; readonly now: number },
): Promise<void> {
  const newest = new Map<string, ContainerFile>()
  const superseded: ContainerFile[] = []
  for (const row of rows.filter(({ path }) => paths.has(path)).toSorted(byAge)) {
    const older = newest.get(row.path)
    if (older !== undefined) superseded.push(older)
    newest.set(row.path, row)
  }
  await Promise.all(superseded.map((row) => table.files.patch(row, { isCurrent: false, endedAt: now })))
}

const byAge = (a: ContainerFile, b: ContainerFile): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

async function takeBack({ table, objects }: Ports, { tenant, containerId, id, objectKey }: ContainerFile): Promise<void> {
  // The row is removed first: bytes without a row are swept with their container, but a row without bytes would be visible.
  await table.files.remove(tenant, containerId, id)
  await objects.delete(objectKey)
}
