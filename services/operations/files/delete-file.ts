import type { ContainerFile } from '../../model/files/file.ts'
import type { Table } from '../../ports/table.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Clock } from '../../ports/clock.ts'

/** Removes a file from its container; the sandbox loses it before the next execution. Its bytes are deleted, so links to it stop working. */
export async function deleteFile(
  { table, objects, clock }: { readonly table: Pick<Table, 'files' | 'containers'>; readonly objects: ObjectStore; readonly clock: Clock },
  file: ContainerFile,
): Promise<void> {
  const now = clock.now()
  await table.files.patch(file, { state: 'deleted', isCurrent: false, endedAt: now })
  if (file.isCurrent) await table.containers.filesChanged(file.tenant, file.containerId, now)
  await objects.delete(file.objectKey)
}
