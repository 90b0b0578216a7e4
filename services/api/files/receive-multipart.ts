import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BusboyInstance } from '@fastify/busboy'
import { ServiceError } from '../../core/errors.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import { loadFormParser } from '../http/form-parser.ts'

export interface ReceivedFile {
  readonly filename: string
  readonly bytes: number
  readonly sha256: string
}
export interface ReceivedForm {
  readonly file: ReceivedFile | null
  readonly fields: Readonly<Record<string, string>>
}

/** Space for the other parts and the boundaries around the file, bytes. */
export const FORM_OVERHEAD_BYTES = 64 * 1024

const refuse = (message: string, param: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid_request', message, { param, ...(cause === undefined ? {} : { cause }) })

export interface FormRules {
  readonly maxBytes: number
  /** The name of the part with the bytes. */
  readonly part: string
  /** What to do with a file that is too large. */
  readonly advice: string
}

/**
 * Reads a form and streams its file part to the object store, without holding it in memory or writing it twice. After a failure no object remains at
 * `objectKey`. Throws ServiceError.
 */
export async function receiveMultipart(request: Request, objects: ObjectStore, objectKey: string, rules: FormRules): Promise<ReceivedForm> {
  const form = await openForm(request, rules)
  const fields: Record<string, string> = Object.create(null) as Record<string, string>
  let storing: Promise<ReceivedFile | Error> | null = null
  let isTruncated = false
  /** The store refused the file before the form ended. */
  let storeFailure: Error | null = null
  let isOneTooMany = false
  form.on('filesLimit', () => (isOneTooMany = true))
  form.on('field', (name, value) => {
    fields[name.slice(0, 100)] = value
  })
  form.on('file', (name, stream, filename) => {
    // A form can end before the store reads the part; the reader then gets the error, and without a listener it would end the process.
    stream.on('error', () => undefined)
    if (name !== rules.part) {
      stream.resume()
      return
    }
    stream.on('limit', () => {
      isTruncated = true
      stream.destroy(tooLarge(rules))
      form.destroy(tooLarge(rules))
    })
    storing = store(objects, objectKey, stream, filename ?? '').catch((cause: unknown) => {
      const error = cause instanceof Error ? cause : new Error(String(cause))
      // Without a reader of the file the form would never end.
      if (!form.destroyed) form.destroy((storeFailure = error))
      return error
    })
    form.on('error', (error: Error) => stream.destroy(error))
  })
  let failure: unknown = null
  try {
    await pipeline(Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]), form)
  } catch (error) {
    failure = error
  }
  const stored = await (storing as Promise<ReceivedFile | Error> | null)
  if (failure === null && !isOneTooMany && !(stored instanceof Error)) return { file: stored, fields }
  if (stored !== null) await objects.delete(objectKey)
  if (isTruncated) throw tooLarge(rules)
  if (storeFailure !== null) throw storeFailure as Error
  if (isOneTooMany && failure === null)
    throw refuse(`The form has more than one file. Send one for each call, in a part named "${rules.part}".`, rules.part)
  if (stored instanceof Error && failure === null) throw stored
  throw refuse(
    `The multipart form ended too early or is malformed. Send it again as multipart/form-data with a part named "${rules.part}".`,
    rules.part,
    failure,
  )
}

const tooLarge = ({ maxBytes, part, advice }: FormRules): ServiceError =>
  new ServiceError('request_too_large', `The file is larger than ${maxBytes} bytes. ${advice}`, { param: part })

async function openForm(request: Request, { maxBytes, part }: FormRules): Promise<BusboyInstance> {
  if (request.body === null) throw refuse(`The request has no body. Send multipart/form-data with a part named "${part}".`, part)
  const parse = await loadFormParser()
  try {
    return parse(request, { files: 1, fileSize: maxBytes, fieldSize: 8 * 1024, parts: 10 })
  } catch (cause) {
    throw refuse('The Content-Type names no boundary. Send the form as your HTTP library makes it.', part, cause)
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
