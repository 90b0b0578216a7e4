import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { copyFile } from '../../operations/files/copy-file.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { normalizeFilePath } from '../../model/files/file-path.ts'
import { planPaths } from '../../operations/files/plan-paths.ts'
import { supersedeOlderVersions } from '../../operations/files/supersede-older-versions.ts'
import { derivedId } from '../../model/ids.ts'
import { containerOf, fileOf } from '../../operations/access.ts'
import { WireError } from './errors.ts'
import type { InputFile } from './schema.ts'
import type { SessionCall } from './session.ts'

interface NamedFile {
  /** Where the client has the file. */
  readonly ref: { readonly id: string; readonly storage_session_id: string }
  /** The path that the client asked for. */
  readonly name: string
  readonly source: ContainerFile
}

/** An input of an execution, and its path in the container that runs the code. */
export interface Input extends NamedFile {
  readonly path: string
}

/**
 * Copies the named files into the container, each upload once: what code made of it since is kept. Another upload becomes the current version of its
 * path. Throws WireError `session_input_unavailable` for a missing file.
 */
export async function bringInputs(call: SessionCall, container: Container, files: readonly InputFile[]): Promise<readonly Input[]> {
  if (files.length === 0) return []
  const named: NamedFile[] = []
  for (const file of files) named.push(await findInput(call, file))
  const inputs = withOwnPaths(named)
  const before = await call.deps.table.files.all(container.tenant, container.id)
  for (const input of inputs) await bring(call, { container, before }, input)
  return inputs
}

async function findInput(call: SessionCall, { id, name, storage_session_id: session, session_id: older }: InputFile): Promise<NamedFile> {
  const sessionId = session ?? older
  if (sessionId === undefined)
    throw new ServiceError(
      'invalid_request',
      `The file ${JSON.stringify(name)} has no storage_session_id. Send the session that the upload returned.`,
    )
  const source = await unlessMissing(name, async () =>
    fileOf(call, { containerId: (await containerOf(call, sessionId, 'run')).id, id }, 'run'),
  )
  return { ref: { id, storage_session_id: sessionId }, name: normalizeFilePath(name), source }
}

/** A reading of an input. Throws WireError `session_input_unavailable` instead of ServiceError `…_not_found`. */
async function unlessMissing<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof ServiceError) || (cause.code !== 'file_not_found' && cause.code !== 'container_not_found')) throw cause
    throw new WireError('session_input_unavailable', `The input ${JSON.stringify(name)} does not exist. Upload it again.`, { cause })
  }
}

/** If several files have one name, the latest keeps it. The others get names with a hash, as LibreChat itself names them. */
function withOwnPaths(named: readonly NamedFile[]): readonly Input[] {
  const keyOf = ({ source, name }: NamedFile): string => `${source.id}:${name}`
  const byKey = new Map(named.map((file) => [keyOf(file), file]))
  const incoming = [...byKey].map(([id, { name, source }]) => ({ id, name, identity: source.id, createdAt: source.createdAt }))
  const paths = planPaths(incoming)
  return [...byKey].map(([key, file]) => ({ ...file, path: paths.get(key) ?? file.name }))
}

/** `before`: the versions in the container, oldest first. */
async function bring(
  call: SessionCall,
  { container, before }: { readonly container: Container; readonly before: readonly ContainerFile[] },
  { name, source, path }: Input,
): Promise<void> {
  const { deps } = call
  const versions = before.filter((file) => file.path === path)
  const isPresent = versions.some((file) => file.isCurrent && file.state === 'stored')
  const id = derivedId('containerFile', 0, `${container.id}:${source.id}:${path}`)
  const latestBrought = versions.findLast((file) => file.isBrought === true)
  const isOwn = source.containerId === container.id && source.path === path
  if (isPresent && (isOwn || latestBrought?.id === id)) return

  const now = deps.clock.now()
  const earlier = versions.find((file) => file.id === id && file.state === 'stored')
  if (earlier === undefined)
    return void (await unlessMissing(name, () => copyFile(deps, source, { containerId: container.id, path, id, now })))
  // The bytes of the copy are still stored: its row becomes the newest version, which no sandbox has yet.
  const patched = await deps.table.files.patch(
    { tenant: container.tenant, containerId: container.id, id },
    {
      isCurrent: true,
      createdAt: now,
      sandboxGeneration: 0,
    },
  )
  if (patched !== null) await supersedeOlderVersions(deps, patched, now)
}

/** Sentences for the model about inputs that are not where their name says. */
export const renamedNotes = (inputs: readonly Input[]): readonly string[] =>
  inputs
    .filter(({ name, path }) => name !== path)
    .map(
      ({ name, path }) =>
        `Several input files are named ${JSON.stringify(name)}. The latest has this name; an earlier one is ${JSON.stringify(path)}.`,
    )
