import { Readable } from 'node:stream'
import { z } from '@hono/zod-openapi'
import { ServiceError } from '../../../core/errors.ts'
import { fileName } from '../../../core/files/file-path.ts'
import type { ContainerFile } from '../../../core/files/file.ts'
import { containerOf, fileMissing, fileOf } from '../../access.ts'
import { deleteFile } from '../../files/delete-file.ts'
import { currentFiles } from '../../files/find-by-path.ts'
import { storeBytes } from '../../files/store-bytes.ts'
import { readBody, refuseEncoded } from '../../http/read-body.ts'
import { json } from '../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../http/route.ts'
import { inWireForm } from './refusals.ts'
import { UploadResult } from './schema.ts'
import { newSession } from './session.ts'

/** All files of one call, bytes: they are in memory until they are stored. */
const MAX_UPLOAD_BYTES = 52 * 1024 * 1024
const MAX_BATCH = 100

const UploadForm = z
  .looseObject({ file: z.string().openapi({ format: 'binary' }), kind: z.string().optional(), id: z.string().optional() })
  .openapi('LibreChatUpload')

const upload = (path: '/upload' | '/upload/batch', operationId: string, summary: string) =>
  defineRoute({
    method: 'post',
    path: `/librechat/v1${path}`,
    scope: 'files',
    operationId,
    tag: 'LibreChat',
    summary,
    streamed: { contentType: 'multipart/form-data', schema: UploadForm, description: 'Parts with file names, by any field names.' },
    answers: { 200: { description: 'The session with the files.', schema: UploadResult } },
    refusals: ['invalid_file_name'],
    handle: inWireForm(async (call) => {
      const given = await filesIn(call.request)
      const session = await newSession(call)
      const stored = []
      for (const file of given) stored.push(await storeOne(call, session, file, path === '/upload'))
      const succeeded = stored.filter((file) => !('error' in file)).length
      const ids = { storage_session_id: session.id, session_id: session.id }
      if (path === '/upload') return json(200, { message: 'success', ...ids, files: stored })
      const message = succeeded === stored.length ? 'success' : succeeded === 0 ? 'error' : 'partial_success'
      return json(succeeded === 0 ? 400 : 200, { message, ...ids, files: stored, succeeded, failed: stored.length - succeeded })
    }),
  })

async function storeOne(call: Pick<Call, 'deps'>, session: { tenant: string; id: string }, file: File, isAlone: boolean) {
  const filename = file.name
  try {
    const { id } = await storeBytes(call.deps, session, filename, new Uint8Array(await file.arrayBuffer()))
    return { status: 'success', filename, fileId: id }
  } catch (error) {
    if (isAlone || !(error instanceof ServiceError)) throw error
    return { status: 'error', filename, error: error.message }
  }
}

async function filesIn(request: Request): Promise<readonly File[]> {
  refuseEncoded(request)
  const bytes = await readBody(request, MAX_UPLOAD_BYTES)
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': request.headers.get('content-type') ?? '' } })
    .formData()
    .catch((cause: unknown) => {
      throw new ServiceError('invalid_request', 'The multipart form is malformed. Send it again as multipart/form-data.', { cause })
    })
  const files = [...form.values()].filter((value) => value instanceof File)
  if (files.length === 0) throw new ServiceError('invalid_request', 'The form has no file. Send the bytes in a part with a file name.')
  if (files.length > MAX_BATCH) throw new ServiceError('invalid_request', `The form has more than ${MAX_BATCH} files. Send fewer.`)
  return files
}

/** A file of a session; both must belong to the caller. */
async function requested(call: Call): Promise<ContainerFile> {
  const container = await containerOf(call, call.param('session_id'))
  return fileOf(call, container.id, call.param('file_id'))
}

const download = defineRoute({
  method: 'get',
  path: '/librechat/v1/download/{session_id}/{file_id}',
  scope: 'files',
  operationId: 'librechatDownload',
  tag: 'LibreChat',
  summary: 'Download a file of a session',
  answers: { 200: { description: 'The bytes.', schema: z.string(), contentType: 'application/octet-stream' } },
  refusals: ['container_not_found', 'file_not_found'],
  handle: inWireForm(async (call) => {
    const file = await requested(call)
    const object = await call.deps.objects.get(file.objectKey)
    if (object === null) throw fileMissing(file.id)
    return new Response(Readable.toWeb(Readable.from(object.body)) as ReadableStream, {
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(file.bytes),
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName(file.path))}`,
      },
    })
  }),
})

const iso = (at: number): string => new Date(at).toISOString()
const etagOf = (file: ContainerFile): string => file.sha256 ?? file.id
const objectName = (file: ContainerFile): string => {
  const dot = fileName(file.path).lastIndexOf('.')
  return `${file.containerId}/${file.id}${dot > 0 ? fileName(file.path).slice(dot) : ''}`
}

function listed(file: ContainerFile, detail: string): unknown {
  const summary = { name: objectName(file), size: file.bytes, lastModified: iso(file.createdAt), etag: etagOf(file) }
  if (detail === 'summary') return summary
  if (detail === 'full')
    return {
      ...summary,
      metadata: { 'content-type': file.mime, 'original-filename': file.path },
      versionId: file.id,
      contentType: file.mime,
    }
  if (detail === 'normalized')
    return {
      id: file.id,
      name: file.path,
      storage_session_id: file.containerId,
      size: file.bytes,
      contentType: file.mime,
      lastModified: iso(file.createdAt),
    }
  return objectName(file)
}

const list = defineRoute({
  method: 'get',
  path: '/librechat/v1/files/{session_id}',
  scope: 'read',
  operationId: 'librechatFiles',
  tag: 'LibreChat',
  summary: 'List the files of a session',
  query: z.looseObject({ detail: z.enum(['simple', 'summary', 'full', 'normalized']).optional() }),
  answers: { 200: { description: 'The files, in the form that `detail` names.', schema: z.array(z.unknown()) } },
  refusals: ['container_not_found'],
  handle: inWireForm(async (call) => {
    const container = await containerOf(call, call.param('session_id'))
    const { detail = 'simple' } = call.query
    return json(
      200,
      (await currentFiles(call.deps, container)).map((file) => listed(file, detail)),
    )
  }),
})

const probe = defineRoute({
  method: 'get',
  path: '/librechat/v1/sessions/{session_id}/objects/{file_id}',
  scope: 'read',
  operationId: 'librechatObject',
  tag: 'LibreChat',
  summary: 'Check that a file of a session exists',
  answers: { 200: { description: 'It does.', schema: z.looseObject({ lastModified: z.string(), size: z.int(), etag: z.string() }) } },
  refusals: ['container_not_found', 'file_not_found'],
  handle: inWireForm(async (call) => {
    const file = await requested(call)
    const name = objectName(file)
    return json(200, { name, lastModified: iso(file.createdAt), size: file.bytes, etag: etagOf(file), contentType: file.mime })
  }),
})

const remove = defineRoute({
  method: 'delete',
  path: '/librechat/v1/files/{session_id}/{file_id}',
  scope: 'files',
  operationId: 'librechatDeleteFile',
  tag: 'LibreChat',
  summary: 'Delete a file of a session',
  answers: { 200: { description: 'It is deleted.', schema: z.object({ message: z.string() }) } },
  refusals: ['container_not_found', 'file_not_found'],
  handle: inWireForm(async (call) => {
    await deleteFile(call.deps, await requested(call))
    return json(200, { message: 'success' })
  }),
})

export const librechatFileRoutes: readonly AnyRoute[] = [
  upload('/upload', 'librechatUpload', 'Upload a file'),
  upload('/upload/batch', 'librechatUploadBatch', 'Upload several files'),
  download,
  list,
  probe,
  remove,
]
