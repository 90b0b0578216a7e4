import { copyFile } from '../../core/files/copy-file.ts'
import { ServiceError } from '../../core/errors.ts'
import { findSource } from '../../core/files/file-source.ts'
import { derivedId } from '../../core/ids.ts'
import { placeFile } from '../../core/files/place-file.ts'
import type { ResponseRecord } from '../../core/responses/response.ts'
import { attachmentsIn } from '../conversation/attachments.ts'
import type { TurnDeps } from '../deps.ts'

/**
 * Puts the files that the request names, or holds itself, into the container, each once: who sends a file again with its history finds it
 * there, changed by code or not.
 */
export async function bringFiles(deps: TurnDeps, row: ResponseRecord, containerId: string): Promise<void> {
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
    // A file that was deleted since the request was accepted is not there, as it would not be a moment later.
    if (id !== null && source !== null) await copyFile(deps, source, { containerId, id }, clock.now()).catch(passOver)
  }
  for (const { path, mime, sha256, body } of attachmentsIn(input)) {
    const id = await missing(`${path}:${sha256}`)
    if (id !== null)
      await placeFile(deps, { tenant: row.tenant, path, mime, sha256, bytes: body.length, body }, { containerId, id }, clock.now()).catch(
        passOver,
      )
  }
}

/** The container is full, or was deleted meanwhile: the turn goes on without the file, and code that wants it says so. */
function passOver(cause: unknown): void {
  if (!(cause instanceof ServiceError)) throw cause
}
