import { posix } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { sandboxPath } from '../../operations/files/sandbox-path.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import type { RunContext } from '../../operations/executions/run-code.ts'
import { listFolder, makeFolder, movePath, removePath, statPath, type SandboxEntry } from '../../operations/files/sandbox-files.ts'
import { copyInSandbox, syncSandbox, type WriteMode } from '../../operations/files/sandbox-input.ts'
import { StagedFiles } from '../../operations/files/staged-files.ts'
import { osText } from '../../http/execution-scope.ts'
import { bodyUpTo, refuseAnnounced, refuseEncoded } from '../../http/read-body.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { json } from '../../http/responses.ts'
import { runContext, type AnyRoute, type Call } from '../../http/route.ts'
import { isActive, sandboxFileResponse } from '../../http/sandbox-file.ts'
import { sandboxRoute } from './routing.ts'
import { sandboxByUuid } from './sandbox.ts'

/** As deep as the sandbox lists. */
const ALL_LEVELS = 64
const MAX_TIME_MS = 253_402_300_799_000

const flag = () => z.enum(['true', 'false']).optional()
const path = () => osText(LIMITS.maxPathBytes).optional()
const OfPath = lazySchema(() =>
  z.object({ path: path(), overwrite: flag(), recursive: flag(), force: flag(), extension: z.string().max(255).optional() }),
)
type PathCall = Call<z.infer<ReturnType<typeof OfPath>>>

/** The path of the query. A missing sandbox is reported before a missing path. Throws ServiceError. */
function pathOf({ query }: PathCall): string {
  if (query.path === undefined || query.path === '')
    throw new ServiceError('invalid_request', 'Name the file or folder in the parameter path.', { param: 'path' })
  return query.path
}

const iso = (at: number): string => new Date(Math.min(Math.max(0, at), MAX_TIME_MS)).toISOString()
/** The protocol has two types; a link counts as what it leads to. */
const typeOf = ({ type, resolved }: SandboxEntry): 'file' | 'directory' =>
  (type === 'link' ? resolved?.type : type) === 'folder' ? 'directory' : 'file'

/** The handler of a file operation: its sandbox exists, and the caller may use it. */
const inSandbox =
  (handle: (call: PathCall, container: Container) => Promise<Response>) =>
  async (call: PathCall): Promise<Response> =>
    handle(call, await sandboxByUuid(call, 'files'))

/** How long a call waits for a place among the commands of its sandbox, and how often it tries, milliseconds. */
const PLACE_MS = 10_000
const RETRY_MS = 250

/**
 * File operations are commands. Clients write many folders and files at once and do not repeat a refused POST, so a call waits while its sandbox runs as
 * many commands as it may. The refusal comes before any effect, so that the operation may be repeated.
 */
async function oncePlaceIsFree<T>(call: Call, operate: (context: RunContext) => Promise<T>): Promise<T> {
  const context = runContext(call)
  for (const end = context.deps.clock.now() + PLACE_MS; ;) {
    try {
      return await operate(context)
    } catch (error) {
      const isFull = error instanceof ServiceError && error.code === 'too_many_queued'
      if (!isFull || context.signal.aborted || context.deps.clock.now() >= end) throw error
    }
    const hold = await context.hold()
    try {
      await delay(RETRY_MS)
    } finally {
      await hold.release()
    }
  }
}

const list = inSandbox(async (call, { id }) => {
  const { path: given = '/', recursive, extension } = call.query
  const { real } = sandboxPath(given)
  const request = { path: real, depth: recursive === 'true' ? ALL_LEVELS : 1 }
  const { entries, is_truncated: isTruncated } = await oncePlaceIsFree(call, (context) => listFolder(context, id, request))
  if (isTruncated) throw new ServiceError('request_too_large', `The folder has more than ${entries.length} entries. List a folder in it.`)
  const named = entries.map((entry) => ({ entry, type: typeOf(entry), name: posix.relative(real, entry.path) }))
  return json(
    200,
    named
      .filter(({ type, name }) => extension === undefined || type === 'directory' || name.endsWith(extension))
      .map(({ entry, type, name }) => ({ name, size: entry.bytes, is_dir: type === 'directory', type, mod_time: iso(entry.modified_at) })),
  )
})

const stat = inSandbox(async (call, { id }) => {
  const given = pathOf(call)
  const entry = await oncePlaceIsFree(call, (context) => statPath(context, id, { path: sandboxPath(given).real }))
  if (entry.type === 'link' && entry.resolved === undefined)
    throw new ServiceError('file_not_found', `${given} is a link that leads nowhere. Remove it, or create its target.`)
  // Linux has no time of creation that every file system keeps.
  const at = iso(entry.modified_at)
  return json(200, { name: posix.basename(given), path: given, type: typeOf(entry), size: entry.bytes, created_at: at, modified_at: at })
})

const read = inSandbox((call, container) => oncePlaceIsFree(call, () => sandboxFileResponse(call, container, sandboxPath(pathOf(call)))))

const write = (modeOf: (call: PathCall) => WriteMode) =>
  inSandbox(async (call, container) => {
    const path = sandboxPath(pathOf(call))
    const mode = modeOf(call)
    refuseEncoded(call.request)
    refuseAnnounced(call.request, LIMITS.maxFileBytes)
    const staged = new StagedFiles(call.deps, container)
    try {
      await staged.add(path, Readable.from(bodyUpTo(call.request, LIMITS.maxFileBytes), { objectMode: false }))
      await staged.keep(runContext(call), mode)
    } finally {
      await staged.close()
    }
    // The sandbox itself has written any other file.
    if (path.stored !== null && mode === 'replace' && isActive(container))
      await oncePlaceIsFree(call, (context) => syncSandbox(context, container.id))
    return json(200, {})
  })

/** `force` ignores a missing entry. */
async function remove(call: PathCall, { id }: Container): Promise<Response> {
  const { real } = sandboxPath(pathOf(call))
  try {
    const recursive = call.query.recursive === 'true'
    await oncePlaceIsFree(call, (context) => removePath(context, id, { path: real, recursive }))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // Such as a folder with entries.
    if (error.code === 'conflict') throw new ServiceError('invalid_request', error.message, { cause: error })
    if (error.code !== 'file_not_found' || call.query.force !== 'true') throw error
  }
  return new Response(null, { status: 204 })
}

const makeDir = inSandbox(async (call, { id }) => {
  const given = pathOf(call)
  const { real } = sandboxPath(given)
  const isRecursive = call.query.recursive === 'true'
  const { is_new: isNew } = await oncePlaceIsFree(call, async (context) => {
    if (!isRecursive) await statPath(context, id, { path: posix.dirname(real) })
    return makeFolder(context, id, real)
  })
  if (!isNew && !isRecursive) throw new ServiceError('conflict', `The folder ${given} exists already. Use it, or remove it first.`)
  return json(201, {})
})

const Transfer = lazySchema(() =>
  openObject({
    src: osText(LIMITS.maxPathBytes).min(1),
    dest: osText(LIMITS.maxPathBytes).min(1),
    recursive: z.boolean().nullish(),
    overwrite: z.boolean().nullish(),
  }),
)

const transfer =
  (isMove: boolean) =>
  async (call: Call): Promise<Response> => {
    const { src, dest, recursive, overwrite } = await readJsonMessage(call.request, Transfer())
    const { id } = await sandboxByUuid(call, 'files')
    const paths = { from: sandboxPath(src).real, to: sandboxPath(dest).real, overwrite: overwrite === true }
    const copied = { ...paths, recursive: recursive === true }
    await oncePlaceIsFree(call, async (context): Promise<unknown> =>
      isMove ? movePath(context, id, paths) : copyInSandbox(context, id, copied),
    )
    return json(200, {})
  }

const PATH = '/sandboxes/{sandbox_uuid}'
const files = { scope: 'files', query: OfPath } as const

export const fileRoutes: readonly AnyRoute[] = [
  sandboxRoute({ ...files, method: 'get', path: `${PATH}/files`, handle: list }),
  sandboxRoute({ ...files, method: 'get', path: `${PATH}/files/content`, handle: read }),
  sandboxRoute({
    ...files,
    method: 'put',
    path: `${PATH}/files`,
    handle: write(({ query }) => (query.overwrite === 'false' ? 'create' : 'replace')),
  }),
  sandboxRoute({ ...files, method: 'post', path: `${PATH}/files`, handle: write(() => 'append') }),
  sandboxRoute({ ...files, method: 'delete', path: `${PATH}/files`, handle: inSandbox(remove) }),
  sandboxRoute({ scope: 'files', method: 'post', path: `${PATH}/files/copy`, ownBody: Transfer, handle: transfer(false) }),
  sandboxRoute({ scope: 'files', method: 'post', path: `${PATH}/files/move`, ownBody: Transfer, handle: transfer(true) }),
  sandboxRoute({ ...files, method: 'post', path: `${PATH}/mkdir`, handle: makeDir }),
  sandboxRoute({ ...files, method: 'get', path: `${PATH}/stat`, handle: stat }),
]
