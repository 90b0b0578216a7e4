import { posix } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { FORM_OVERHEAD_BYTES, receiveFiles, type FormRules } from '../../http/receive-multipart.ts'
import { annotatePaths, MAX_ATTRIBUTE_BYTES } from '../../operations/files/sandbox-files.ts'
import { bodyUpTo, mediaType, refuseAnnounced, refuseEncoded } from '../../http/read-body.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { isActive, sandboxFileResponse } from '../../http/sandbox-file.ts'
import { METADATA_PREFIX } from './filesystem.ts'
import { sandboxPath } from '../../operations/files/sandbox-path.ts'
import { e2bRoute } from './routing.ts'
import { syncSandbox } from '../../operations/files/sandbox-input.ts'
import { useSandbox } from './open-sandbox.ts'
import { StagedFiles } from '../../operations/files/staged-files.ts'

const FORM = {
  maxBytes: LIMITS.maxFileBytes,
  part: 'file',
  advice: 'Split it.',
  maxFiles: 100,
  isFileNameOptional: true,
} as const satisfies FormRules
const MAX_FORM_BYTES = LIMITS.maxFileBytes + FORM.maxFiles * FORM_OVERHEAD_BYTES

async function read(call: Call): Promise<Response> {
  const path = sandboxPath(new URL(call.request.url).searchParams.get('path') ?? '')
  const { container } = await useSandbox(call)
  return sandboxFileResponse(call, container, path)
}

async function write(call: Call): Promise<Response> {
  const metadata = metadataOf(call.request)
  const { container, context } = await useSandbox(call)
  const staged = new StagedFiles(call.deps, container)
  try {
    await (mediaType(call.request) === 'multipart/form-data' ? stageForm : stageBody)(call.request, staged)
    await staged.keep(context)
  } finally {
    await staged.close()
  }
  if (metadata !== null) {
    const paths = staged.paths.map(({ real }) => real)
    await annotatePaths(context, container.id, { paths, attributes: METADATA_PREFIX, values: metadata })
  } else if (isActive(container)) await syncSandbox(context, container.id)
  return json(
    200,
    staged.paths.map(({ shown }) => ({ name: posix.basename(shown), path: shown, type: 'file', ...(metadata && { metadata }) })),
  )
}

const METADATA_HEADER = 'x-metadata-'
/** What the kernel takes as the name of an extended attribute. */
const MAX_NAME_BYTES = 255
const PRINTABLE = /^[\x20-\x7e]*$/

/** The metadata of the files of a call, from its headers; null without any. Throws ServiceError. */
function metadataOf({ headers }: Request): Readonly<Record<string, string>> | null {
  const given = [...headers].flatMap(([name, value]) =>
    name.startsWith(METADATA_HEADER) ? [[name.slice(METADATA_HEADER.length), value] as const] : [],
  )
  if (given.length === 0) return null
  const bytes = given.reduce((sum, [name, value]) => sum + METADATA_PREFIX.length + name.length + value.length, 0)
  const isTooLong = given.some(([name]) => METADATA_PREFIX.length + name.length > MAX_NAME_BYTES)
  if (given.some(([name, value]) => name === '' || !PRINTABLE.test(value)) || isTooLong || bytes > MAX_ATTRIBUTE_BYTES)
    throw new ServiceError(
      'invalid_request',
      `Metadata of a file has names of 1 to ${MAX_NAME_BYTES - METADATA_PREFIX.length} characters and values of printable ASCII, ${MAX_ATTRIBUTE_BYTES} bytes together. Shorten it.`,
    )
  return Object.fromEntries(given)
}

const givenPath = (request: Request): string | null => new URL(request.url).searchParams.get('path')

/** The parts of a form: the file's path is its name, unless the call gives one. */
async function stageForm(request: Request, staged: StagedFiles): Promise<void> {
  refuseEncoded(request)
  refuseAnnounced(request, MAX_FORM_BYTES)
  const given = givenPath(request)
  const { files } = await receiveFiles(request, FORM, (stream, filename) => staged.add(sandboxPath(given ?? nameOf(filename)), stream))
  if (files.length === 0)
    throw new ServiceError('invalid_request', 'The form has no file. Send the bytes in a part named "file", with a file name.')
}

/** A file name in a form, where clients write these three characters as the HTML standard says. */
function nameOf(filename: string): string {
  if (filename === '') throw new ServiceError('invalid_request', 'A file of the form has no name. Name it, or give the parameter path.')
  return filename.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}

/** The body as one file. It may be compressed with gzip. */
async function stageBody(request: Request, staged: StagedFiles): Promise<void> {
  const given = givenPath(request)
  if (given === null) throw new ServiceError('invalid_request', 'Name the file in the parameter path.')
  const path = sandboxPath(given)
  refuseAnnounced(request, LIMITS.maxFileBytes)
  const isCompressed = request.headers.get('content-encoding') === 'gzip'
  if (!isCompressed) refuseEncoded(request)
  const body = Readable.from(bodyUpTo(request, Number.POSITIVE_INFINITY), { objectMode: false })
  try {
    await staged.add(path, isCompressed ? pipeline(body, createGunzip(), () => undefined) : body)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))
      throw new ServiceError('invalid_request', 'The body is not compressed with gzip. Send it again.', { cause })
    throw cause
  }
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
