import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Container } from '../../../core/containers/container.ts'
import { ServiceError } from '../../../core/errors.ts'
import { normalizeFilePath } from '../../../core/files/file-path.ts'
import type { ContainerFile } from '../../../core/files/file.ts'
import { supersedeOlderVersions } from '../../../core/files/supersede-older-versions.ts'
import { LIMITS } from '../../../core/limits.ts'
import { newObjectKey } from '../../../core/object-keys.ts'
import { currentFiles } from '../../files/find-by-path.ts'
import { newFile } from '../../files/new-file.ts'
import { readRange } from '../../files/sandbox-files.ts'
import { storeBytes } from '../../files/store-bytes.ts'
import { mediaType, readBody, refuseAnnounced, refuseEncoded } from '../../http/read-body.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import type { RunContext } from '../../executions/run-code.ts'
import { sandboxPath, type SandboxPath } from './paths.ts'
import { e2bRoute } from './routing.ts'
import { syncSandbox, writeInSandbox } from './sandbox-input.ts'
import { useSandbox } from './session.ts'

/** All files of one multipart call, bytes: they are in memory until they are stored. */
const MAX_FORM_BYTES = LIMITS.maxMultipartFileBytes
const MAX_FORM_FILES = 100
/** Maximum size of a file outside `/mnt/data`, which is transferred through input and output of commands, bytes. */
const MAX_SANDBOX_BYTES = 16 * 1024 ** 2

/** Programs run in the sandbox, so stored files may be older or newer than the ones there. */
const isActive = ({ queue, commands = [], backgroundCommands = [] }: Container): boolean =>
  queue.length > 0 || commands.length > 0 || backgroundCommands.length > 0

async function read(call: Call): Promise<Response> {
  const path = sandboxPath(new URL(call.request.url).searchParams.get('path') ?? '')
  const { container, context } = await useSandbox(call)
  if (isActive(container)) await syncSandbox(context, container.id)
  const file = await storedFile(call, container, path)
  const object = file === undefined ? null : await call.deps.objects.get(file.objectKey)
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(posix.basename(path.real))}`,
  }
  if (object !== null)
    return new Response(Readable.toWeb(Readable.from(object.body)) as ReadableStream, {
      headers: { ...headers, 'content-length': String(object.bytes) },
    })
  return readInSandbox(context, container.id, path.real, headers)
}

/** A file that is not stored, such as one outside `/mnt/data`. */
async function readInSandbox(
  context: RunContext,
  containerId: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const first = await readRange(context, containerId, { path })
  const pieces = [Buffer.from(first.data, 'base64')]
  let at = pieces[0]?.byteLength ?? 0
  if (first.bytes > MAX_SANDBOX_BYTES)
    throw new ServiceError(
      'request_too_large',
      `Files outside /mnt/data are read up to ${MAX_SANDBOX_BYTES} bytes. Copy it to /mnt/data first.`,
    )
  while (at < first.bytes) {
    const { data } = await readRange(context, containerId, { path, offset: at })
    const piece = Buffer.from(data, 'base64')
    // The file has become shorter meanwhile.
    if (piece.byteLength === 0) break
    pieces.push(piece)
    at += piece.byteLength
  }
  return new Response(Buffer.concat(pieces), { headers })
}

async function storedFile({ deps }: Call, container: Container, { stored }: SandboxPath): Promise<ContainerFile | undefined> {
  return stored === null ? undefined : (await currentFiles(deps, container)).find((file) => file.path === stored)
}

async function write(call: Call): Promise<Response> {
  const given = new URL(call.request.url).searchParams.get('path')
  const { container, context } = await useSandbox(call)
  const written: SandboxPath[] = []
  if (mediaType(call.request) === 'multipart/form-data') {
    for (const { name, bytes } of await filesIn(call.request)) {
      const path = sandboxPath(given ?? name)
      await writeOne(call, context, container, path, bytes)
      written.push(path)
    }
  } else {
    if (given === null) throw new ServiceError('invalid_request', 'Name the file in the parameter path.')
    const path = sandboxPath(given)
    if (path.stored === null) await writeOne(call, context, container, path, await readBody(call.request, MAX_SANDBOX_BYTES))
    else await receive(call, container, path.stored)
    written.push(path)
  }
  if (isActive(container)) await syncSandbox(context, container.id)
  return json(
    200,
    written.map(({ shown }) => ({ name: posix.basename(shown), path: shown, type: 'file' })),
  )
}

async function writeOne(call: Call, context: RunContext, container: Container, path: SandboxPath, bytes: Uint8Array): Promise<void> {
  if (path.stored !== null) return void (await storeBytes(call.deps, container, path.stored, bytes))
  if (bytes.byteLength > MAX_SANDBOX_BYTES)
    throw new ServiceError(
      'request_too_large',
      `Files outside /mnt/data have at most ${MAX_SANDBOX_BYTES} bytes. Write it there and move it.`,
    )
  await writeInSandbox(context, container.id, path.real, bytes)
}

/** The parts of a form: the file's path is its name. */
async function filesIn(request: Request): Promise<readonly { readonly name: string; readonly bytes: Uint8Array }[]> {
  refuseEncoded(request)
  const body = await readBody(request, MAX_FORM_BYTES)
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': request.headers.get('content-type') ?? '' } })
    .formData()
    .catch((cause: unknown) => {
      throw new ServiceError('invalid_request', 'The multipart form is malformed. Send it again as multipart/form-data.', { cause })
    })
  const files = form.getAll('file').filter((value) => value instanceof File)
  if (files.length === 0) throw new ServiceError('invalid_request', 'The form has no file. Send the bytes in a part named "file".')
  if (files.length > MAX_FORM_FILES)
    throw new ServiceError('invalid_request', `The form has more than ${MAX_FORM_FILES} files. Send fewer.`)
  return Promise.all(files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })))
}

/** Streams the body into storage as the current version of the path. It may be compressed with gzip. */
async function receive({ deps, request }: Call, { tenant, id: containerId }: Container, stored: string): Promise<void> {
  const path = normalizeFilePath(stored)
  refuseAnnounced(request, LIMITS.maxFileBytes)
  const isCompressed = request.headers.get('content-encoding') === 'gzip'
  if (!isCompressed) refuseEncoded(request)
  const objectKey = newObjectKey(tenant, 'files', containerId)
  const hash = createHash('sha256')
  let bytes = 0
  const counted = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength
      hash.update(chunk)
      if (bytes > LIMITS.maxFileBytes) done(new ServiceError('request_too_large', `A file has at most ${LIMITS.maxFileBytes} bytes.`))
      else done(null, chunk)
    },
  })
  const source = request.body === null ? Readable.from([]) : Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0])
  const body = isCompressed ? source.compose(createGunzip()).compose(counted) : source.compose(counted)
  try {
    await deps.objects.put(objectKey, body as AsyncIterable<Uint8Array>, { contentType: 'application/octet-stream' })
  } catch (cause) {
    await deps.objects.delete(objectKey)
    if (cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))
      throw new ServiceError('invalid_request', 'The body is not compressed with gzip. Send it again.', { cause })
    throw cause
  }
  const file = newFile(deps, { tenant, containerId, path, bytes, sha256: hash.digest('hex'), objectKey, state: 'stored' })
  await deps.table.files.put(file)
  await supersedeOlderVersions(deps, file, deps.clock.now())
}

export const envdFileRoutes: readonly AnyRoute[] = [
  e2bRoute({ plane: 'data', scope: 'files', method: 'get', path: '/files', handle: read }),
  e2bRoute({ plane: 'data', scope: 'files', method: 'post', path: '/files', handle: write }),
  e2bRoute({
    plane: 'data',
    scope: 'read',
    method: 'get',
    path: '/health',
    handle: async (call) => {
      await useSandbox(call)
      return new Response(null, { status: 204 })
    },
  }),
]
