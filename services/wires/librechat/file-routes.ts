import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { fileName } from '../../model/files/file-path.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { containerOf, fileMissing, fileOf } from '../../operations/access.ts'
import { deleteFile } from '../../operations/files/delete-file.ts'
import { currentFiles } from '../../operations/files/find-by-path.ts'
import { objectAnswer } from '../../http/object-answer.ts'
import { json, redirectTo } from '../../http/responses.ts'
import { presigner } from '../../operations/files/presign.ts'
import { defineRoute, type AnyRoute, type Call } from '../../http/route.ts'
import { libreChatAuth } from './auth.ts'
import { uploadRoutes } from './upload-routes.ts'

/** A file of a session; both must belong to the caller. */
async function requested(call: Call, scope: Scope): Promise<ContainerFile> {
  const container = await containerOf(call, call.param('session_id'), scope)
  return fileOf(call, { containerId: container.id, id: call.param('file_id') }, scope)
}

const download = defineRoute({
  method: 'get',
  path: '/librechat/v1/download/{session_id}/{file_id}',
  auth: libreChatAuth,
  scope: 'files',
  operationId: 'librechatDownload',
  tag: 'LibreChat',
  summary: 'Download a file of a session',
  answers: {
    200: { description: 'The bytes.', schema: () => z.string(), contentType: 'application/octet-stream' },
    302: { description: 'In AWS, for a file above 4 MB: its link, for five minutes.' },
  },
  errors: ['container_not_found', 'file_not_found'],
  handle: async (call) => {
    const file = await requested(call, 'files')
    const { redirectBytes = Number.POSITIVE_INFINITY } = call.deps.config.answerBytes ?? {}
    if (file.bytes > redirectBytes)
      return redirectTo(await presigner(call.deps.objects, call.publicUrl)(file.objectKey, fileName(file.path), 'application/octet-stream'))
    const stored = await objectAnswer(call.deps, file, {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName(file.path))}`,
    })
    if (stored === null) throw fileMissing(file.id)
    return stored
  },
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
  auth: libreChatAuth,
  scope: 'read',
  operationId: 'librechatFiles',
  tag: 'LibreChat',
  summary: 'List the files of a session',
  query: () => openObject({ detail: z.enum(['simple', 'summary', 'full', 'normalized']).optional() }),
  answers: { 200: { description: 'The files, in the form that `detail` names.', schema: () => z.array(z.unknown()) } },
  errors: ['container_not_found'],
  handle: async (call) => {
    const container = await containerOf(call, call.param('session_id'), 'read')
    const { detail = 'simple' } = call.query
    return json(
      200,
      (await currentFiles(call.deps, container)).map((file) => listed(file, detail)),
    )
  },
})

const probe = defineRoute({
  method: 'get',
  path: '/librechat/v1/sessions/{session_id}/objects/{file_id}',
  auth: libreChatAuth,
  scope: 'read',
  operationId: 'librechatObject',
  tag: 'LibreChat',
  summary: 'Check that a file of a session exists',
  answers: {
    200: { description: 'The file exists.', schema: () => z.looseObject({ lastModified: z.string(), size: z.int(), etag: z.string() }) },
  },
  errors: ['container_not_found', 'file_not_found'],
  handle: async (call) => {
    const file = await requested(call, 'read')
    const name = objectName(file)
    return json(200, { name, lastModified: iso(file.createdAt), size: file.bytes, etag: etagOf(file), contentType: file.mime })
  },
})

const remove = defineRoute({
  method: 'delete',
  path: '/librechat/v1/files/{session_id}/{file_id}',
  auth: libreChatAuth,
  scope: 'files',
  operationId: 'librechatDeleteFile',
  tag: 'LibreChat',
  summary: 'Delete a file of a session',
  answers: { 200: { description: 'The file is deleted.', schema: () => z.object({ message: z.string() }) } },
  errors: ['container_not_found', 'file_not_found'],
  handle: async (call) => {
    await deleteFile(call.deps, await requested(call, 'files'))
    return json(200, { message: 'success' })
  },
})

export const librechatFileRoutes: readonly AnyRoute[] = [...uploadRoutes, download, list, probe, remove]
