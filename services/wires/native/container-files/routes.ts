import * as z from 'zod'
import { createHash } from 'node:crypto'
import { containerOf, fileMissing } from '../../../operations/access.ts'
import { ContainerFile, renderContainerFile } from '../../../http/container-file.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { newFile } from '../../../operations/files/new-file.ts'
import { ServiceError } from '../../../model/errors.ts'
import { normalizeFilePath } from '../../../model/files/file-path.ts'
import type { ContainerFile as FileRow } from '../../../model/files/file.ts'
import { supersedeOlderVersions } from '../../../operations/files/supersede-older-versions.ts'
import { isId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { newObjectKey } from '../../../model/object-keys.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import { hexDigits } from '../../../http/schemas.ts'
import { answerSchema, lazySchema } from '../../../model/lazy-schema.ts'

const UploadUrlBody = lazySchema(() =>
  z
    .strictObject({
      path: z.string().max(4_096).openapi({ example: 'data/sales.csv' }),
      bytes: z
        .int('give a whole number')
        .min(0, 'give at least 0')
        .openapi({ description: `Exact size, at most ${LIMITS.maxFileBytes}.` }),
      sha256: hexDigits(64).nullish().openapi({ description: 'Checked against the bytes at `complete`.' }),
    })
    .openapi('UploadUrlRequest'),
)

const UploadUrl = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ description: 'Id of the future file, for `…/files/{file_id}/complete`.' }),
      object: z.literal('container.file.upload'),
      url: z.string().openapi({ description: 'PUT the bytes here, without an API key.' }),
      headers: z.record(z.string(), z.string()).openapi({ description: 'Headers that the PUT must have unchanged.' }),
      expires_at: z.string().openapi({ format: 'date-time' }),
    })
    .openapi('UploadUrl'),
)

const createUploadUrlRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/files/upload_url',
  auth: 'session',
  scope: 'files',
  operationId: 'createUploadUrl',
  tag: 'Container files',
  summary: 'Get a URL for a large upload',
  description: 'PUT the bytes to the URL with these headers, then call `complete`, which creates the file.',
  body: UploadUrlBody,
  answers: { 200: { description: 'The URL and the headers of the PUT.', schema: UploadUrl } },
  errors: ['container_not_found', 'invalid_file_name'],
  async handle(call) {
    const { deps, caller, body } = call
    const path = normalizeFilePath(body.path)
    if (body.bytes > LIMITS.maxFileBytes)
      throw new ServiceError('request_too_large', `The file is ${body.bytes} bytes; the maximum is ${LIMITS.maxFileBytes}. Split it.`, {
        param: 'bytes',
      })
    const container = await containerOf(call, call.param('container_id'), 'files')
    const objectKey = newObjectKey(caller.tenant, 'files', container.id)
    const file = newFile(deps, {
      tenant: caller.tenant,
      containerId: container.id,
      path,
      bytes: body.bytes,
      sha256: body.sha256?.toLowerCase() ?? null,
      objectKey,
      state: 'awaiting_upload',
    })
    const upload = await deps.objects.presignPut(objectKey, {
      publicUrl: call.publicUrl,
      bytes: body.bytes,
      contentType: file.mime,
      expiresSeconds: LIMITS.presignedSeconds,
    })
    await deps.table.files.put(file)
    call.note('file_id', file.id)
    const expiresAt = new Date(deps.clock.now() + LIMITS.presignedSeconds * 1000).toISOString()
    return json(200, { id: file.id, object: 'container.file.upload', url: upload.url, headers: upload.headers, expires_at: expiresAt })
  },
})

const completeUploadRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/files/{file_id}/complete',
  auth: 'session',
  scope: 'files',
  operationId: 'completeUpload',
  tag: 'Container files',
  summary: 'Finish a large upload',
  description: 'Checks size and hash of the uploaded bytes and creates the file. Idempotent.',
  answers: { 200: { description: 'The file.', schema: ContainerFile } },
  errors: ['container_not_found', 'file_not_found', 'upload_incomplete'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'), 'files')
    const id = call.param('file_id')
    const file = isId('containerFile', id) ? await deps.table.files.get(caller.tenant, container.id, id) : null
    if (file === null || file.state === 'deleted' || file.state === 'swept') throw fileMissing(id)
    if (file.state === 'stored') {
      // The first call may have failed before it changed the container's row.
      if (file.isCurrent) await supersedeOlderVersions(deps, file, deps.clock.now())
      return json(200, renderContainerFile(file))
    }
    const sha256 = await checkBytes(deps.objects, file)
    const stored = await deps.table.files.patch(
      { tenant: caller.tenant, containerId: container.id, id },
      {
        state: 'stored',
        sha256,
        isCurrent: true,
        createdAt: deps.clock.now(),
      },
    )
    if (stored === null) throw fileMissing(id)
    await supersedeOlderVersions(deps, stored, deps.clock.now())
    return json(200, renderContainerFile(stored))
  },
})

/** The SHA-256 of the bytes that were uploaded. Throws ServiceError `upload_incomplete` when they are not the announced ones. */
async function checkBytes(objects: ObjectStore, file: FileRow): Promise<string> {
  const there = await objects.head(file.objectKey)
  if (there === null)
    throw new ServiceError('upload_incomplete', 'The upload URL has received no bytes yet. PUT the bytes to the URL first.')
  if (there.bytes !== file.bytes)
    throw new ServiceError(
      'upload_incomplete',
      `${there.bytes} bytes were uploaded, not the announced ${file.bytes}. Request a new URL and upload again.`,
    )
  const hash = createHash('sha256')
  for await (const chunk of (await objects.get(file.objectKey))?.body ?? []) hash.update(chunk)
  const sha256 = hash.digest('hex')
  if (file.sha256 !== null && sha256 !== file.sha256)
    throw new ServiceError(
      'upload_incomplete',
      'The SHA-256 of the uploaded bytes differs from the announced one. Request a new URL and upload again.',
    )
  return sha256
}

export const largeUploadRoutes: readonly AnyRoute[] = [createUploadUrlRoute, completeUploadRoute]
