import { copyFile } from '../../operations/files/copy-file.ts'
import { ServiceError } from '../../model/errors.ts'
import { findSource } from '../../operations/files/file-source.ts'
import { derivedId } from '../../model/ids.ts'
import { placeFile } from '../../operations/files/place-file.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import { attachmentsIn } from './conversation/attachments.ts'
import type { TurnDeps } from './deps.ts'

/**
 * Copies the files that the request names or contains into the container, each once: a client that sends a file again with its history does not
 * overwrite the changes of code.
 */
export async function copyInputFiles(deps: TurnDeps, row: ResponseRecord, containerId: string): Promise<void> {
  const { interpreter, input } = row.request
  if (interpreter === null) return
  const { table, clock } = deps
  const missing = async (seed: string): Promise<string | null> => {
    const id = derivedId('containerFile', 0, `${containerId}:${seed}`)
    const file = await table.files.get(row.tenant, containerId, id)
    return file === null || file.state === 'deleted' ? id : null
  }
  for (const fileId of interpreter.fileIds) {
    const id = await missing(fileId)
    const source = id === null ? null : await findSource(table, row.tenant, fileId, clock.now())
    // A file that was deleted since the request was accepted is left out.
    if (id !== null && source !== null) await copyFile(deps, source, { containerId, id }, clock.now()).catch(ignoreRefusal)
  }
  for (const { path, mime, sha256, body } of attachmentsIn(input)) {
    const id = await missing(`${path}:${sha256}`)
    const file = { tenant: row.tenant, path, mime, sha256, bytes: body.length, body }
    if (id !== null) await placeFile(deps, file, { containerId, id }, clock.now()).catch(ignoreRefusal)
  }
}

/** The container is full, or was deleted meanwhile: the turn continues without the file, and code that needs it reports that. */
function ignoreRefusal(cause: unknown): void {
  if (!(cause instanceof ServiceError)) throw cause
}
