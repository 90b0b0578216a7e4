import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BusboyInstance } from '@fastify/busboy'
import { ServiceError } from '../model/errors.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { loadFormParser } from './form-parser.ts'
import { bodyUpTo, ClientLeftError } from './read-body.ts'

export interface ReceivedFile {
  readonly filename: string
  readonly bytes: number
  readonly sha256: string
}
interface ReceivedFiles<Stored> {
  readonly files: readonly Stored[]
  readonly fields: Readonly<Record<string, string>>
}
export interface ReceivedForm {
  readonly file: ReceivedFile | null
  readonly fields: Readonly<Record<string, string>>
}

/** Space for the other parts and the boundaries around a file, bytes. */
export const FORM_OVERHEAD_BYTES = 64 * 1024
/** Parts for each file that a form may have, with those that are no files. */
const PARTS_PER_FILE = 10

/** Where the bytes belong, as the end of a sentence. */
const inPart = (part: string | null): string => (part === null ? '' : ` in a part named "${part}"`)

const refuse = (message: string, param: string | undefined, cause?: unknown): ServiceError =>
  new ServiceError('invalid_request', message, { ...(param === undefined ? {} : { param }), ...(cause === undefined ? {} : { cause }) })

export interface FormRules {
  /** Of one file. */
  readonly maxBytes: number
  /** The name of the parts with the bytes; null: every part with a file name. */
  readonly part: string | null
  /** What to do with a file that is too large. */
  readonly advice: string
  /** 1 when absent. */
  readonly maxFiles?: number
  /** A part of that name is a file without a file name too. */
  readonly isFileNameOptional?: boolean
  /** Maximum of the whole form, bytes; no limit when absent. */
  readonly maxFormBytes?: number
}

type Store<Stored> = (stream: Readable, filename: string) => Promise<Stored>

/**
 * Reads a form and streams its file part to the object store, without holding it in memory or writing it twice. After a failure no object remains at
 * `objectKey`. Throws ServiceError.
 */
export async function receiveMultipart(
  objects: ObjectStore,
  request: Request,
  { objectKey, rules }: { readonly objectKey: string; readonly rules: FormRules },
): Promise<ReceivedForm> {
  let isStored = false
  try {
    const { files, fields } = await receiveFiles(request, rules, (stream, filename) => {
      isStored = true
      return storeStream(objects, { objectKey, stream, filename })
    })
    return { file: files[0] ?? null, fields }
  } catch (error) {
    if (isStored) await objects.delete(objectKey)
    throw error
  }
}

/**
 * Reads a form and passes its files to `storeFile`, one after the other and as streams that it must read. After a failure the caller removes what was
 * stored. Throws ServiceError, or what `storeFile` throws.
 */
export async function receiveFiles<Stored>(request: Request, rules: FormRules, storeFile: Store<Stored>): Promise<ReceivedFiles<Stored>> {
  const form = await openForm(request, rules)
  const parts = new FileParts(form, rules, storeFile)
  const fields: Record<string, string> = Object.create(null) as Record<string, string>
  form.on('field', (name, value) => {
    fields[name.slice(0, 100)] = value
  })
  let failure: unknown = null
  try {
    await pipeline(bodyUpTo(request, rules.maxFormBytes ?? Number.POSITIVE_INFINITY), form)
  } catch (error) {
    failure = error
  }
  return { files: await parts.finish(failure), fields }
}

/** The files of a form while it is read. */
class FileParts<Stored> {
  readonly #form: BusboyInstance
  readonly #rules: FormRules
  readonly #storeFile: Store<Stored>
  readonly #stored: Stored[] = []
  readonly #open = new Set<Readable>()
  #storing: Promise<void> = Promise.resolve()
  #isTruncated = false
  #isOneTooMany = false
  /** What the store threw: the form ends with it, unless the form failed first. */
  #storeFailure: Error | null = null
  #isStoreFirst = false

  constructor(form: BusboyInstance, rules: FormRules, storeFile: Store<Stored>) {
    this.#form = form
    this.#rules = rules
    this.#storeFile = storeFile
    form.on('filesLimit', () => (this.#isOneTooMany = true))
    form.on('error', (error: Error) => {
      for (const stream of this.#open) stream.destroy(error)
    })
    form.on('file', (name, stream, filename) => this.#receive(name, stream, filename ?? ''))
  }

  #receive(name: string, stream: Readable, filename: string): void {
    // A form can end before the store reads the part; the reader then gets the error, and without a listener it would end the process.
    stream.on('error', () => undefined)
    if (this.#rules.part !== null && name !== this.#rules.part) {
      stream.resume()
      return
    }
    this.#open.add(stream)
    stream.on('close', () => this.#open.delete(stream))
    stream.on('limit', () => {
      this.#isTruncated = true
      stream.destroy(tooLarge(this.#rules))
      this.#form.destroy(tooLarge(this.#rules))
    })
    this.#storing = this.#storing.then(() => this.#store(stream, filename))
  }

  async #store(stream: Readable, filename: string): Promise<void> {
    // Without a reader of the file the form would never end.
    if (this.#storeFailure !== null) return void stream.destroy()
    try {
      this.#stored.push(await this.#storeFile(stream, filename))
    } catch (cause) {
      this.#storeFailure = cause instanceof Error ? cause : new Error(String(cause))
      if (this.#form.destroyed) return
      this.#isStoreFirst = true
      this.#form.destroy(this.#storeFailure)
    }
  }

  /** The stored files of a form that was read completely. */
  async finish(failure: unknown): Promise<readonly Stored[]> {
    await this.#storing
    const { part, maxFiles = 1 } = this.#rules
    if (this.#isTruncated) throw tooLarge(this.#rules)
    if ((failure instanceof ServiceError || failure instanceof ClientLeftError) && !this.#isStoreFirst) throw failure
    if (this.#storeFailure !== null && (this.#isStoreFirst || failure === null)) throw this.#storeFailure
    if (this.#isOneTooMany && failure === null)
      throw refuse(
        maxFiles === 1
          ? `The form has more than one file. Send one for each call${inPart(part)}.`
          : `The form has more than ${maxFiles} files. Send fewer in each call.`,
        part ?? undefined,
      )
    if (failure === null) return this.#stored
    throw refuse(
      `The multipart form ended too early or is malformed. Send it again as multipart/form-data with a file${inPart(part)}.`,
      part ?? undefined,
      failure,
    )
  }
}

const tooLarge = ({ maxBytes, part, advice }: FormRules): ServiceError =>
  new ServiceError('request_too_large', `The file is larger than ${maxBytes} bytes. ${advice}`, {
    ...(part === null ? {} : { param: part }),
  })

async function openForm(request: Request, rules: FormRules): Promise<BusboyInstance> {
  const { maxBytes, part, maxFiles = 1, isFileNameOptional = false } = rules
  if (request.body === null)
    throw refuse(`The request has no body. Send multipart/form-data with a file${inPart(part)}.`, part ?? undefined)
  const parse = await loadFormParser()
  try {
    const limits = { files: maxFiles, fileSize: maxBytes, fieldSize: 8 * 1024, parts: PARTS_PER_FILE * maxFiles }
    return parse(request, { limits, namelessFile: isFileNameOptional ? part : null })
  } catch (cause) {
    throw refuse('The Content-Type names no boundary. Send the form as your HTTP library makes it.', part ?? undefined, cause)
  }
}

/** Streams a file of a form to the object store. After a failure the rest of the stream is left to the form. */
export async function storeStream(
  objects: ObjectStore,
  { objectKey, stream, filename }: { readonly objectKey: string; readonly stream: Readable; readonly filename: string },
): Promise<ReceivedFile> {
  const hash = createHash('sha256')
  let bytes = 0
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      hash.update(chunk)
      bytes += chunk.byteLength
      yield chunk
    }
  }
  await objects.put(objectKey, counted(), { contentType: 'application/octet-stream' })
  return { filename, bytes, sha256: hash.digest('hex') }
}
