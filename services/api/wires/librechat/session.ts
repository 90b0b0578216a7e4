import { createContainer, type NewContainer } from '../../../core/containers/create-container.ts'
import type { Container } from '../../../core/containers/container.ts'
import { ServiceError } from '../../../core/errors.ts'
import { copyFile } from '../../../core/files/copy-file.ts'
import type { ContainerFile } from '../../../core/files/file.ts'
import { normalizeFilePath } from '../../../core/files/file-path.ts'
import { containerOf, fileOf, isVisible } from '../../access.ts'
import { currentFiles } from '../../files/find-by-path.ts'
import type { Call } from '../../http/route.ts'
import { WireError } from './refusals.ts'
import type { InputFile } from './schema.ts'

type SessionCall = Pick<Call, 'deps' | 'caller'>

/** A session of this wire is a container: uploads and executions each create one. */
export const newSession = (
  { deps, caller }: SessionCall,
  wanted: Partial<Pick<NewContainer, 'id' | 'name' | 'image'>> = {},
): Promise<Container> =>
  createContainer(
    deps.table,
    { tenant: caller.tenant, subject: caller.subject, name: 'librechat', memoryTier: '1g', ...wanted },
    deps.clock.now(),
  )

/** A new container without a runtime hint, otherwise the container of the hint: the newest with its name. `image` is that of a new one. */
export async function openSession(
  call: SessionCall,
  hint: string | undefined,
  image?: string,
): Promise<{ readonly container: Container; readonly isNew: boolean }> {
  const { deps, caller } = call
  const chosen = image === undefined ? {} : { image }
  if (hint === undefined) return { container: await newSession(call, chosen), isNew: true }
  const name = `librechat:${hint}`
  const { rows } = await deps.table.containers.list(caller.tenant, { after: null, limit: 1, order: 'desc', name })
  const found = rows.find((row) => row.deletedAt === null && isVisible(row, caller))
  return found === undefined ? { container: await newSession(call, { name, ...chosen }), isNew: true } : { container: found, isNew: false }
}

/** An input of an execution: where the client has it, and its path and version in the container that runs the code. */
export interface Input {
  readonly ref: { readonly id: string; readonly storage_session_id: string }
  readonly path: string
  readonly fileId: string
}

/**
 * Copies the named files into the container. A path that exists in the container is kept, because code may have changed it. Throws WireError
 * `session_input_unavailable` for a missing file; the client then uploads it again.
 */
export async function bringInputs(call: SessionCall, container: Container, files: readonly InputFile[]): Promise<readonly Input[]> {
  const { deps } = call
  const present = new Map((await currentFiles(deps, container)).map((file) => [file.path, file]))
  const inputs: Input[] = []
  for (const { id, name, storage_session_id: session, session_id: older } of files) {
    const sessionId = session ?? older
    if (sessionId === undefined)
      throw new ServiceError(
        'invalid_request',
        `The file ${JSON.stringify(name)} has no storage_session_id. Send the session that the upload returned.`,
      )
    const path = normalizeFilePath(name)
    const source = await findInput(call, sessionId, id, name)
    const there = present.get(path)
    const file = there ?? (await copyFile(deps, source, { containerId: container.id, path }, deps.clock.now()))
    present.set(path, file)
    inputs.push({ ref: { id, storage_session_id: sessionId }, path, fileId: file.id })
  }
  return inputs
}

async function findInput(call: SessionCall, sessionId: string, id: string, name: string): Promise<ContainerFile> {
  try {
    return await fileOf(call, (await containerOf(call, sessionId)).id, id)
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new WireError('session_input_unavailable', `The input ${JSON.stringify(name)} does not exist. Upload it again.`, { cause })
  }
}
