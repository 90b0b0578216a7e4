import { posix } from 'node:path'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { ServiceError } from '../../model/errors.ts'
import { listFolder, makeFolder, movePath, removePath, statPath, type SandboxEntry } from '../../operations/files/sandbox-files.ts'
import type { AnyRoute } from '../../http/route.ts'
import { unary } from './connect.ts'
import { sandboxPath, shownPath, type SandboxPath } from '../../operations/files/sandbox-path.ts'
import { RpcError } from './errors.ts'
import { useSandbox } from './open-sandbox.ts'

const TYPES = { file: 'FILE_TYPE_FILE', folder: 'FILE_TYPE_DIRECTORY', link: 'FILE_TYPE_SYMLINK', other: 'FILE_TYPE_UNSPECIFIED' } as const
const TYPE_SIGNS = { file: '-', folder: 'd', link: 'L', other: '?' } as const
/** The one user of a sandbox, as E2B calls it. */
const OWNER = 'user'
const MAX_TIME_MS = 253_402_300_799_000
const PERMISSION_BITS = 0o777

/** What a folder itself occupies, as most file systems say it. */
const FOLDER_BYTES = 4096
/** E2B keeps the metadata of files in extended attributes of these names. */
export const METADATA_PREFIX = 'user.e2b.'
const attributes = METADATA_PREFIX

/** An entry in the form of E2B's protocol. Its path starts with the path as the client wrote it. A link has the type and mode of what it leads to. */
export function entryInfo(entry: SandboxEntry, asked: SandboxPath): Readonly<Record<string, unknown>> {
  const path = asked.shown + entry.path.slice(asked.real.length)
  const { type, mode } = entry.type === 'link' ? (entry.resolved ?? { type: 'other', mode: 0 }) : entry
  return {
    name: posix.basename(path),
    type: TYPES[type],
    path,
    size: String(entry.type === 'folder' ? FOLDER_BYTES : entry.bytes),
    mode,
    permissions: TYPE_SIGNS[entry.type] + permissionsOf(entry.mode),
    owner: OWNER,
    group: OWNER,
    modifiedTime: new Date(Math.min(Math.max(0, entry.modified_at), MAX_TIME_MS)).toISOString(),
    ...(entry.target !== undefined && { symlinkTarget: entry.resolved === undefined ? entry.target : shownPath(entry.resolved.path) }),
    ...(entry.attributes !== undefined && { metadata: entry.attributes }),
  }
}

/** The lower nine bits as `ls` prints them. */
const permissionsOf = (mode: number): string =>
  Array.from((mode & PERMISSION_BITS).toString(2).padStart(9, '0'), (bit, index) => (bit === '1' ? 'rwx'.charAt(index % 3) : '-')).join('')

const Path = lazySchema(() => openObject({ path: z.string() }))
const files = { scope: 'files', body: Path } as const
const at = (procedure: string): string => `/filesystem.Filesystem/${procedure}`

const stat = unary({ ...files, path: at('Stat') }, async (call, { path }) => {
  const { container, context } = await useSandbox(call)
  const asked = sandboxPath(path)
  return { entry: entryInfo(await statPath(context, container.id, { path: asked.real, attributes }), asked) }
})

const listDir = unary(
  { scope: 'files', path: at('ListDir'), body: () => openObject({ path: z.string(), depth: z.int().min(0).max(100).optional() }) },
  async (call, { path, depth }) => {
    const { container, context } = await useSandbox(call)
    const asked = sandboxPath(path)
    const { entries, is_truncated: isTruncated } = await listFolder(context, container.id, {
      path: asked.real,
      depth: Math.max(1, depth ?? 1),
      attributes,
    })
    if (isTruncated) throw new ServiceError('request_too_large', `The folder has more than ${entries.length} entries. List a folder in it.`)
    return { entries: entries.map((entry) => entryInfo(entry, asked)) }
  },
)

const makeDir = unary({ ...files, path: at('MakeDir') }, async (call, { path }) => {
  const { container, context } = await useSandbox(call)
  const asked = sandboxPath(path)
  const { entry, is_new: isNew } = await makeFolder(context, container.id, asked.real)
  if (!isNew) throw new RpcError('already_exists', `The folder ${asked.shown} exists already. Use it, or remove it first.`)
  return { entry: entryInfo(entry, asked) }
})

const move = unary(
  { scope: 'files', path: at('Move'), body: () => openObject({ source: z.string(), destination: z.string() }) },
  async (call, { source, destination }) => {
    const { container, context } = await useSandbox(call)
    const asked = sandboxPath(destination)
    const moved = await movePath(context, container.id, {
      from: sandboxPath(source).real,
      to: asked.real,
      overwrite: true,
      attributes,
    })
    return { entry: entryInfo(moved, asked) }
  },
)

const remove = unary({ ...files, path: at('Remove') }, async (call, { path }) => {
  const { container, context } = await useSandbox(call)
  await removePath(context, container.id, { path: sandboxPath(path).real, recursive: true }).catch((error: unknown) => {
    // A missing entry counts as removed.
    if (!(error instanceof ServiceError) || error.code !== 'file_not_found') throw error
  })
  return {}
})

export const filesystemRoutes: readonly AnyRoute[] = [stat, listDir, makeDir, move, remove]
