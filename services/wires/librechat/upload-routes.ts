import type { Readable } from 'node:stream'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { normalizeFilePath } from '../../model/files/file-path.ts'
import { supersedeOlderVersions } from '../../operations/files/supersede-older-versions.ts'
import { newId } from '../../model/ids.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import { newFile } from '../../operations/files/new-file.ts'
import { receiveFiles, storeStream, type ReceivedFile } from '../../http/receive-multipart.ts'
import { refuseAnnounced, refuseEncoded } from '../../http/read-body.ts'
import { json } from '../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../http/route.ts'
import { libreChatAuth } from './auth.ts'
import { UploadResult } from './schema.ts'
import { newSession } from './session.ts'

/** The form of one call with all its files, bytes. */
const MAX_UPLOAD_BYTES = 52 * 1024 * 1024
const MAX_BATCH = 100

const RULES = {
  part: null,
  maxBytes: Number.POSITIVE_INFINITY,
  maxFormBytes: MAX_UPLOAD_BYTES,
  maxFiles: MAX_BATCH,
  advice: 'Upload it with POST /v1/files.',
}

/** A file of a form: stored under its own key, or refused for its name or by the store. */
type FormFile =
  | { readonly stored: ReceivedFile & { readonly objectKey: string } }
  | { readonly filename: string; readonly refusal: ServiceError }

const UploadForm = lazySchema(() =>
  openObject({ file: z.string().openapi({ format: 'binary' }), kind: z.string().optional(), id: z.string().optional() }).openapi(
    'LibreChatUpload',
  ),
)

const upload = (path: '/upload' | '/upload/batch', operationId: string, summary: string) =>
  defineRoute({
    method: 'post',
    path: `/librechat/v1${path}`,
    auth: libreChatAuth,
    scope: 'files',
    operationId,
    tag: 'LibreChat',
    summary,
    streamed: { contentType: 'multipart/form-data', schema: UploadForm, description: 'Parts with file names, by any field names.' },
    answers: { 200: { description: 'The session with the files.', schema: UploadResult } },
    errors: ['invalid_file_name'],
    handle: async (call) => {
      const isBatch = path === '/upload/batch'
      const { session, files } = await receive(call, isBatch)
      const ids = { storage_session_id: session.id, session_id: session.id }
      if (!isBatch) return json(200, { message: 'success', ...ids, files })
      const succeeded = files.filter(({ status }) => status === 'success').length
      const message = succeeded === files.length ? 'success' : succeeded === 0 ? 'error' : 'partial_success'
      return json(succeeded === 0 ? 400 : 200, { message, ...ids, files, succeeded, failed: files.length - succeeded })
    },
  })

/** Stores the files of a form in a new session. Outside a batch, the refusal of one file is that of the call. */
async function receive({ deps, caller, request }: Call, isBatch: boolean) {
  refuseEncoded(request)
  refuseAnnounced(request, MAX_UPLOAD_BYTES)
  const id = newId('container')
  const received: FormFile[] = []
  try {
    await receiveFiles(request, RULES, async (stream, filename) => {
      received.push(await receiveOne(deps, { objectKey: newObjectKey(caller.tenant, 'files', id), stream, filename }))
    })
    const refused = isBatch ? undefined : received.find((file) => 'refusal' in file)
    if (refused !== undefined) throw refused.refusal
  } catch (error) {
    await Promise.all(received.map((file) => ('stored' in file ? deps.objects.delete(file.stored.objectKey) : undefined)))
    throw error
  }
  if (received.length === 0) throw new ServiceError('invalid_request', 'The form has no file. Send the bytes in a part with a file name.')
  const session = await newSession({ deps, caller }, { id })
  const files = []
  for (const file of received) files.push(await keep(deps, session, file))
  return { session, files }
}

/** Stores a file of a form, or says why not; the files after it are then stored nevertheless. */
async function receiveOne(
  { objects }: Call['deps'],
  { objectKey, stream, filename }: { readonly objectKey: string; readonly stream: Readable; readonly filename: string },
): Promise<FormFile> {
  try {
    normalizeFilePath(filename)
    return { stored: { ...(await storeStream(objects, { objectKey, stream, filename })), objectKey } }
  } catch (error) {
    await objects.delete(objectKey)
    if (!(error instanceof ServiceError)) throw error
    // The form continues behind this file.
    stream.resume()
    return { filename, refusal: error }
  }
}

async function keep(deps: Call['deps'], { tenant, id: containerId }: Container, file: FormFile) {
  if ('refusal' in file) return { status: 'error', filename: file.filename, error: file.refusal.message }
  const { filename, bytes, sha256, objectKey } = file.stored
  const row = newFile(deps, { tenant, containerId, path: normalizeFilePath(filename), bytes, sha256, objectKey, state: 'stored' })
  await deps.table.files.put(row)
  await supersedeOlderVersions(deps, row, deps.clock.now())
  return { status: 'success', filename, fileId: row.id }
}

export const uploadRoutes: readonly AnyRoute[] = [
  upload('/upload', 'librechatUpload', 'Upload a file'),
  upload('/upload/batch', 'librechatUploadBatch', 'Upload several files'),
]
