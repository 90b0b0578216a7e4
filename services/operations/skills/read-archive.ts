import type { Entry, ZipFile } from 'yauzl'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'

export interface NamedFile {
  /** As the client sent it. */
  readonly path: string
  readonly content: Uint8Array
  /** Null when the client cannot say, as in a form. */
  readonly isExecutable: boolean | null
}

const FILE_TYPES = 0o170000
const REGULAR = 0o100000
const EXECUTABLE = 0o111
/** The system on which the archive was made, in the upper byte of `versionMadeBy`: only then the attributes are those of a Unix file. */
const UNIX = 3

/**
 * The files of a zip archive. Names, types, number and sizes are checked from its directory before anything is inflated, and inflating stops at the size
 * that the directory announces, so memory is bounded by LIMITS.maxSkillBytes whatever the archive contains. Throws ServiceError.
 */
export async function readArchive(archive: Buffer, param: string): Promise<readonly NamedFile[]> {
  const refuse = (message: string, cause?: unknown): ServiceError =>
    new ServiceError('invalid_request', message, { param, ...(cause === undefined ? {} : { cause }) })
  // CommonJS: in the bundle of a function its only export is the default.
  const { default: yauzl } = await import('yauzl')
  let zip: ZipFile
  try {
    // Strict names: no backslash, no absolute path, no ".." segment.
    zip = await yauzl.fromBufferPromise(archive, {
      lazyEntries: true,
      strictFileNames: true,
      validateEntrySizes: true,
      decodeStrings: true,
    })
  } catch (cause) {
    throw refuse('The skill is not a zip archive that can be read. Send a zip file with one folder that contains SKILL.md.', cause)
  }
  const entries: Entry[] = []
  let bytes = 0
  try {
    for await (const entry of zip.eachEntry()) {
      const problem = problemOf(entry)
      if (problem !== null) throw refuse(`The entry ${JSON.stringify(entry.fileName.slice(0, 120))} of the archive ${problem}.`)
      if (entry.fileName.endsWith('/')) continue
      entries.push(entry)
      bytes += entry.uncompressedSize
      checkFileCount(entries.length, param)
      checkFileBytes(bytes, param)
    }
    const files: NamedFile[] = []
    for (const entry of entries) files.push({ path: entry.fileName, content: await inflate(zip, entry), isExecutable: isExecutable(entry) })
    return files
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw refuse('The zip archive is damaged or has a name that leads out of its folder. Make it again.', cause)
  }
}

export function checkFileCount(count: number, param: string): void {
  if (count > LIMITS.maxSkillFiles)
    throw new ServiceError('limit_exceeded', `A skill has at most ${LIMITS.maxSkillFiles} files. Leave out what a task does not need.`, {
      param,
    })
}

export function checkFileBytes(bytes: number, param: string): void {
  if (bytes > LIMITS.maxSkillBytes)
    throw new ServiceError(
      'limit_exceeded',
      `The unpacked files of the skill exceed ${LIMITS.maxSkillBytes} bytes, the maximum. Remove files.`,
      {
        param,
      },
    )
}

const modeOf = (entry: Entry): number => (entry.versionMadeBy >> 8 === UNIX ? entry.externalFileAttributes >>> 16 : 0)
const isExecutable = (entry: Entry): boolean => (modeOf(entry) & EXECUTABLE) !== 0

/** Why an entry is refused; null for a folder and a regular file. */
function problemOf(entry: Entry): string | null {
  const type = modeOf(entry) & FILE_TYPES
  if (type !== 0 && type !== REGULAR && !entry.fileName.endsWith('/'))
    return 'is a link or a device, and only files and folders are accepted'
  if (entry.isEncrypted()) return 'is encrypted'
  if (!entry.canDecodeFileData()) return 'is compressed by a method other than deflate'
  return null
}

/** At most the announced size: the stream fails at the first byte above it. */
async function inflate(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}
