import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BusboyInstance } from '@fastify/busboy'
import { ServiceError } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { FORM_OVERHEAD_BYTES } from '../../../http/receive-multipart.ts'
import { loadFormParser } from '../../../http/form-parser.ts'
import { ClientLeftError, keptBody, mediaType, refuseAnnounced, refuseEncoded } from '../../../http/read-body.ts'
import { makeSkill, type MadeSkill } from '../../../operations/skills/make-skill.ts'
import { readArchive, type NamedFile } from '../../../operations/skills/read-archive.ts'

/** Clients write a list as `files` or `files[]`. */
const PARTS = ['files', 'files[]']
const PARAM = 'files'
const HEADERS_PER_FILE_BYTES = 2 * 1024

const MAX_FORM_BYTES = LIMITS.maxSkillArchiveBytes + FORM_OVERHEAD_BYTES + LIMITS.maxSkillFiles * HEADERS_PER_FILE_BYTES

/** Reads a form with the files of a skill, or with one zip archive, and checks it. Throws ServiceError; nothing is stored. */
export async function receiveSkill(
  request: Request,
): Promise<{ readonly skill: MadeSkill; readonly fields: Readonly<Record<string, string>> }> {
  refuseEncoded(request)
  if (mediaType(request) !== 'multipart/form-data')
    throw new ServiceError(
      'unsupported_media_type',
      'Send the skill as multipart/form-data: its files, or one zip archive, in parts named "files[]".',
    )
  refuseAnnounced(request, MAX_FORM_BYTES)
  const { files, fields } = await readForm(request)
  const [first] = files
  if (first === undefined)
    throw new ServiceError(
      'invalid_request',
      'The form has no file. Send the files of the skill, or one zip archive, in parts named "files[]".',
      {
        param: PARAM,
      },
    )
  const isArchive = files.length === 1 && isZip(first.content)
  return { skill: await makeSkill(isArchive ? await readArchive(Buffer.from(first.content), PARAM) : files, PARAM), fields }
}

/** By its first bytes: clients send archives under any name and type. */
const isZip = (content: Uint8Array): boolean => content[0] === 0x50 && content[1] === 0x4b && (content[2] === 3 || content[2] === 5)

interface SkillForm {
  readonly files: NamedFile[]
  readonly fields: Record<string, string>
}

async function readForm(request: Request): Promise<SkillForm> {
  const form: SkillForm = { files: [], fields: Object.create(null) as Record<string, string> }
  const parser = await openForm(request)
  let refusal: ServiceError | null = null
  let bytes = 0
  const stop = (error: ServiceError): void => {
    refusal ??= error
    if (!parser.destroyed) parser.destroy(refusal)
  }
  const pending: Promise<void>[] = []
  // One listener for all parts: a skill has more files than an emitter has listeners without a warning.
  const open = new Set<Readable>()
  parser.on('error', (error: Error) => {
    for (const stream of open) stream.destroy(error)
  })
  parser.on('filesLimit', () => stop(tooManyFiles()))
  parser.on('field', (name, value) => {
    form.fields[name.slice(0, 100)] = value
  })
  parser.on('file', (name, stream, filename) => {
    stream.on('error', () => undefined)
    open.add(stream)
    stream.once('close', () => open.delete(stream))
    if (!PARTS.includes(name)) {
      stop(
        new ServiceError(
          'invalid_request',
          `The form has a file in a part named ${JSON.stringify(name.slice(0, 60))}. Name it "files[]".`,
          { param: PARAM },
        ),
      )
      stream.resume()
      return
    }
    pending.push(
      (async () => {
        const chunks: Uint8Array[] = []
        for await (const chunk of stream as AsyncIterable<Uint8Array>) {
          bytes += chunk.byteLength
          if (bytes > LIMITS.maxSkillArchiveBytes) return stop(tooLarge())
          chunks.push(chunk)
        }
        form.files.push({ path: filename ?? '', content: Buffer.concat(chunks), isExecutable: null })
      })().catch(() => undefined),
    )
  })
  try {
    await pipeline(keptBody(request, MAX_FORM_BYTES), parser)
    await Promise.all(pending)
  } catch (cause) {
    if (refusal === null && (cause instanceof ServiceError || cause instanceof ClientLeftError)) throw cause
    throw (
      refusal ??
      new ServiceError('invalid_request', 'The multipart form ended too early or is malformed. Send it again.', { param: PARAM, cause })
    )
  }
  if (refusal !== null) throw refusal as ServiceError
  return form
}

async function openForm(request: Request): Promise<BusboyInstance> {
  const malformed = (cause?: unknown): ServiceError =>
    new ServiceError('invalid_request', 'The request is not a multipart form. Send the form as your HTTP library makes it.', {
      param: PARAM,
      ...(cause === undefined ? {} : { cause }),
    })
  if (request.body === null) throw malformed()
  const parse = await loadFormParser()
  try {
    return parse(request, { limits: { files: LIMITS.maxSkillFiles, fieldSize: 1024, parts: LIMITS.maxSkillFiles + 10 } })
  } catch (cause) {
    throw malformed(cause)
  }
}

const tooLarge = (): ServiceError =>
  new ServiceError(
    'request_too_large',
    `The skill is larger than ${LIMITS.maxSkillArchiveBytes} bytes. Leave out what a task does not need.`,
    {
      param: PARAM,
    },
  )
const tooManyFiles = (): ServiceError =>
  new ServiceError('limit_exceeded', `A skill has at most ${LIMITS.maxSkillFiles} files. Leave out what a task does not need.`, {
    param: PARAM,
  })
