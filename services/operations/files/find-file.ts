import { isId } from '../../model/ids.ts'
import type { Caller, Scope } from '../../model/tenants/tenant.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Table } from '../../ports/table.ts'
import { fileMissing, isVisible, requireScope, userFileOf } from '../access.ts'
import { sourceOf, type FileSource } from './file-source.ts'

/** A file that is named by its id alone, for a copy into a container: of another container (`cfile_…`) or of `/v1/files` (`file-…`). */
export async function findFile(
  reader: {
    readonly deps: { readonly table: Pick<Table, 'files' | 'containers' | 'userFiles'>; readonly clock: Clock }
    readonly caller: Caller
  },
  id: string,
  { scope, param }: { readonly scope: Scope; readonly param: string },
): Promise<FileSource> {
  if (isId('file', id)) return sourceOf(await userFileOf(reader, id, { scope, param }))
  const { deps, caller } = reader
  requireScope(caller, scope)
  const row = isId('containerFile', id) ? await deps.table.files.find(caller.tenant, id) : null
  if (row === null || row.state !== 'stored') throw fileMissing(id, param)
  const container = await deps.table.containers.get(caller.tenant, row.containerId)
  if (container === null || container.deletedAt !== null || !isVisible(container, caller)) throw fileMissing(id, param)
  return row
}
