import { uploadOf } from '../../../operations/access.ts'
import { claimId } from '../../../http/claim-id.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { completeUpload, fileOfUpload } from '../../../operations/uploads/complete-upload.ts'
import { receivePart, refuseEnded } from './receive-part.ts'
import { plainName } from '../files/receive-file.ts'
import { CompleteUpload, CreateUpload, PartForm, renderPart, renderUpload, Upload, UploadPart } from './schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { Upload as UploadRow } from '../../../model/files/upload.ts'
import { LIMITS } from '../../../model/limits.ts'
import { objectPrefix } from '../../../model/object-keys.ts'

const createUploadRoute = defineRoute({
  method: 'post',
  path: '/v1/uploads',
  auth: 'session',
  scope: 'files',
  operationId: 'createUpload',
  tag: 'Uploads',
  summary: 'Start an upload in parts',
  description: `Accepts parts for ${LIMITS.uploadMinutes} minutes; \`complete\` creates a file from them.`,
  body: CreateUpload,
  creates: 'upload',
  answers: { 200: { description: 'The upload.', schema: Upload } },
  errors: ['invalid_file_name'],
  async handle(call) {
    const { deps, caller, body, note } = call
    const filename = plainName(body.filename)
    if (body.bytes > LIMITS.maxFileBytes)
      throw new ServiceError('request_too_large', `The file is ${body.bytes} bytes; the maximum is ${LIMITS.maxFileBytes}. Split it.`, {
        param: 'bytes',
      })
    const now = deps.clock.now()
    const claimed = await claimId(call, 'upload', { body: call.rawBody })
    const earlier = claimed.isReplay ? await deps.table.uploads.get(caller.tenant, claimed.id) : null
    if (earlier !== null) return json(200, renderUpload(earlier, null, now), { 'idempotent-replayed': 'true' })
    const row: UploadRow = {
      v: 1,
      tenant: caller.tenant,
      subject: caller.subject,
      id: claimed.id,
      filename,
      bytes: body.bytes,
      mime: body.mime_type,
      purpose: body.purpose,
      status: 'pending',
      createdAt: now,
      expiresAt: now + LIMITS.uploadMinutes * 60_000,
      fileSeconds: body.expires_after?.seconds ?? null,
    }
    await deps.table.uploads.create(row)
    note('upload_id', row.id)
    return json(200, renderUpload(row, null, now))
  },
})

const addUploadPartRoute = defineRoute({
  method: 'post',
  path: '/v1/uploads/{upload_id}/parts',
  auth: 'session',
  scope: 'files',
  operationId: 'addUploadPart',
  tag: 'Uploads',
  summary: 'Add a part',
  description: 'Parts may be sent concurrently: `complete` defines their order.',
  streamed: { contentType: 'multipart/form-data', schema: PartForm, description: 'A form with the part `data`.' },
  answers: { 200: { description: 'The part.', schema: UploadPart } },
  errors: ['upload_not_found'],
  async handle(call) {
    const upload = await uploadOf(call, call.param('upload_id'), 'files')
    refuseEnded(upload, call.deps.clock.now())
    const part = await receivePart(call, upload)
    call.note('bytes', part.bytes)
    return json(200, renderPart(part))
  },
})

const completeFileUploadRoute = defineRoute({
  method: 'post',
  path: '/v1/uploads/{upload_id}/complete',
  auth: 'session',
  scope: 'files',
  operationId: 'completeFileUpload',
  tag: 'Uploads',
  summary: 'Make a file of the parts',
  description: 'Checks the size, and the MD5 if one is given. Idempotent.',
  body: CompleteUpload,
  answers: { 200: { description: 'The upload, with its file.', schema: Upload } },
  errors: ['upload_not_found'],
  async handle(call) {
    const { deps, body } = call
    const upload = await uploadOf(call, call.param('upload_id'), 'files')
    const now = deps.clock.now()
    if (upload.status === 'completed') return json(200, renderUpload(upload, await fileOfUpload(deps, upload), now))
    refuseEnded(upload, now)
    const file = await completeUpload(deps, upload, { partIds: body.part_ids, md5: body.md5?.toLowerCase() ?? null })
    call.note('file_id', file.id)
    return json(200, renderUpload({ ...upload, status: 'completed' }, file, now))
  },
})

const cancelUploadRoute = defineRoute({
  method: 'post',
  path: '/v1/uploads/{upload_id}/cancel',
  auth: 'session',
  scope: 'files',
  operationId: 'cancelUpload',
  tag: 'Uploads',
  summary: 'Cancel an upload',
  description: 'Deletes its parts. Idempotent.',
  answers: { 200: { description: 'The upload.', schema: Upload } },
  errors: ['upload_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const upload = await uploadOf(call, call.param('upload_id'), 'files')
    const now = deps.clock.now()
    const ended = upload.status === 'pending' ? await deps.table.uploads.end(caller.tenant, upload.id, 'cancelled') : upload
    const row = ended ?? (await uploadOf(call, upload.id, 'files'))
    if (row.status !== 'cancelled') refuseEnded(row, now)
    await deps.objects.deletePrefix(objectPrefix(caller.tenant, row.id))
    return json(200, renderUpload(row, null, now))
  },
})

export const uploadRoutes: readonly AnyRoute[] = [createUploadRoute, addUploadPartRoute, completeFileUploadRoute, cancelUploadRoute]
