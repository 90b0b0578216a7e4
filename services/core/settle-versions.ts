import { ServiceError } from './errors.ts'
import type { ContainerFile } from './file.ts'
import { LIMITS } from './limits.ts'
import type { Table } from './ports/table.ts'

/**
 * Lets one version of a path be the current one and tells the container. Called after the row was written: whoever writes the same
 * path at the same time picks the same winner, the newest. Throws ServiceError when the container has too many files.
 */
export async function settleVersions(table: Table, file: ContainerFile, now: number): Promise<void> {
  const current = (await table.files.all(file.tenant, file.containerId)).filter((row) => row.isCurrent)
  if (current.length > LIMITS.maxFilesPerContainer) {
    await table.files.remove(file.tenant, file.containerId, file.id)
    throw new ServiceError('invalid_request', `The container holds ${LIMITS.maxFilesPerContainer} files already. Delete some first.`, {
      param: 'file',
    })
  }
  const versions = current.filter((row) => row.path === file.path).toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
  await Promise.all(versions.slice(1).map((row) => table.files.patch(row.tenant, row.containerId, row.id, { isCurrent: false })))
  await table.containers.filesChanged(file.tenant, file.containerId, now)
}
