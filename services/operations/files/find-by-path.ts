import { normalizeFilePath } from '../../model/files/file-path.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { fileMissing } from '../access.ts'
import type { Table } from '../../ports/table.ts'

/** The current files of a container, oldest first. */
export async function currentFiles(
  { table }: { readonly table: Pick<Table, 'files'> },
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<readonly ContainerFile[]> {
  return (await table.files.all(tenant, id)).filter((row) => row.isCurrent && row.state === 'stored')
}

/** The current version of a path. Throws ServiceError `file_not_found` or `invalid_file_name`. */
export async function fileByPath(
  deps: { readonly table: Pick<Table, 'files'> },
  container: { readonly tenant: string; readonly id: string },
  path: string,
): Promise<ContainerFile> {
  const wanted = normalizeFilePath(path)
  const file = (await currentFiles(deps, container)).find((row) => row.path === wanted)
  if (file === undefined) throw fileMissing(path)
  return file
}
