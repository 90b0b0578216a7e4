import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { ServiceError } from '../../core/errors.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'

export interface ReceivedFile {
  readonly filename: string
  readonly bytes: number
  readonly sha256: string
}
export interface ReceivedForm {
  readonly file: ReceivedFile | null
  readonly fields: Readonly<Record<string, string>>
}

/** Room for the other parts and the boundaries around the file, bytes. */
export const FORM_OVERHEAD_BYTES = 64 * 1024

const refuse = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid_request', message, { param: 'file', ...(cause === undefined ? {} : { cause }) })

/**
 * Reads a form whose part `file` goes to the object store as it comes: neither held whole nor written twice. Whatever fails, nothing
 * stays behind at `objectKey`. Throws ServiceError.
 */
export async function receiveMultipart(request: Request, objects: ObjectStore, objectKey: string, maxBytes: number): Promise<ReceivedForm> {
  const form = openForm(request, maxBytes)
  const fields: Record<string, string> = Object.create(null) as Record<string, string>
  let storing: Promise<ReceivedFile | Error> | null = null
  let isTruncated = false
  form.on('field', (name, value) => {
    fields[name.slice(0, 100)] = value
  })
  form.on('file', (name, stream, filename) => {
    if (name !== 'file' || storing !== null) {
      stream.resume()
      return
    }
    stream.on('limit', () => {
      isTruncated = true
      stream.destroy(tooLarge(maxBytes))
      form.destroy(tooLarge(maxBytes))
    })
    storing = store(objects, objectKey, stream, filename ?? '').catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    )
    form.on('error', (error: Error) => stream.destroy(error))
  })
  let failure: unknown = null
  try {
    await pipeline(Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]), form)
  } catch (error) {
    failure = error
  }
  const stored = await (storing as Promise<ReceivedFile | Error> | null)
  if (failure === null && !(stored instanceof Error)) return { file: stored, fields }
  if (stored !== null) await objects.delete(objectKey)
  if (isTruncated) throw tooLarge(maxBytes)
  if (stored instanceof Error && failure === null) throw stored
  throw refuse(
    'The multipart form ended too early or is malformed. Send it again as multipart/form-data with a part named "file".',
    failure,
  )
}

const tooLarge = (maxBytes: number): ServiceError =>
  new ServiceError(
    'request_too_large',
    `The file is larger than ${maxBytes} bytes. Upload it with POST /v1/containers/{container_id}/files/upload_url.`,
    { param: 'file' },
  )

function openForm(request: Request, maxBytes: number): BusboyInstance {
  if (request.body === null) throw refuse('The request has no body. Send multipart/form-data with a part named "file".')
  try {
    return new Busboy({
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      // A folder in the name is refused or kept by the one rule for paths, never silently cut off.
      preservePath: true,
      limits: {
        files: 1,
        fileSize: maxBytes,
        fields: 8,
        fieldSize: 8 * 1024,
        fieldNameSize: 100,
        parts: 10,
        headerPairs: 20,
        headerSize: 16 * 1024,
      },
    })
  } catch (cause) {
    throw refuse('The Content-Type names no boundary. Send the form as your HTTP library makes it.', cause)
  }
}

async function store(objects: ObjectStore, objectKey: string, stream: Readable, filename: string): Promise<ReceivedFile> {
  const hash = createHash('sha256')
  let bytes = 0
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      hash.update(chunk)
      bytes += chunk.byteLength
      yield chunk
    }
  }
  await objects.put(objectKey, counted(), { contentType: 'application/octet-stream' })
  return { filename, bytes, sha256: hash.digest('hex') }
}
