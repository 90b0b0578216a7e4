import type { ContainerFile } from '../../model/files/file.ts'
import { isId } from '../../model/ids.ts'
import type { Table } from '../../ports/table.ts'
import { hasExpired, type UserFile } from '../../model/files/user-file.ts'

/** The source of a copy into a container: a file of another container, or one of `/v1/files`. */
export type FileSource = Pick<ContainerFile, 'tenant' | 'id' | 'path' | 'bytes' | 'sha256' | 'mime' | 'objectKey' | 'createdAt'>

export const sourceOf = (file: UserFile): FileSource => ({
  tenant: file.tenant,
  id: file.id,
  path: file.filename,
  bytes: file.bytes,
  sha256: file.sha256,
  mime: file.mime,
  objectKey: file.objectKey,
  createdAt: file.createdAt,
})

/** Finds the source by its id, without a check of the caller's rights; null if it was deleted or has expired. */
export async function findSource(
  table: Pick<Table, 'userFiles' | 'files'>,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  now: number,
): Promise<FileSource | null> {
  if (isId('file', id)) {
    const file = await table.userFiles.get(tenant, id)
    return file === null || hasExpired(file, now) ? null : sourceOf(file)
  }
  const file = await table.files.find(tenant, id)
  return file === null || file.state !== 'stored' ? null : file
}
