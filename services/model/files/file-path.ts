import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.ts'
import { LIMITS } from '../limits.ts'

const encoder = new TextEncoder()
const RESERVED = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i
/**
 * C0, DEL, C1, bidirectional overrides and isolates, zero-width spaces and byte-order marks: names that look like other names. Joiners (U+200C, U+200D) are
 * part of a language's spelling, and direction marks (U+200E, U+200F, U+061C) change nothing but the place of punctuation.
 */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff\\]/u

/**
 * The one form of a file's path relative to `/mnt/data`: NFC, `/`-separated, no empty, `.` or `..` segment. A leading `/mnt/data/`
 * is removed. Throws ServiceError `invalid_file_name`, whose message names the fault.
 */
export function normalizeFilePath(raw: string): string {
  const refuse = (why: string): never => {
    throw new ServiceError('invalid_file_name', `The file name ${why}. Use letters, digits, spaces and "-_.", with "/" between folders.`, {
      param: 'file',
    })
  }
  if (!raw.isWellFormed()) refuse('is not valid Unicode')
  const path = raw.normalize('NFC').replace(/^\/mnt\/data\//, '')
  if (path === '') refuse('is empty')
  if (encoder.encode(path).length > LIMITS.maxPathBytes) refuse(`is longer than ${LIMITS.maxPathBytes} bytes`)
  if (path.startsWith('/')) refuse('starts with "/"')
  if (FORBIDDEN.test(path)) refuse('has a control, direction or backslash character in it')
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') refuse('has an empty, "." or ".." folder in it')
    if (encoder.encode(segment).length > 255) refuse('has a part longer than 255 bytes')
    if (/[. ]$/.test(segment)) refuse('has a part that ends in a dot or a space')
    if (RESERVED.test(segment)) refuse('has a part that some systems reserve (CON, NUL, …)')
  }
  return path
}

/** A path beside `path` for a file whose own is taken: the stem, a hash of what identifies the file, the extension. */
export function aliasOfPath(path: string, identity: string): string {
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 8)
  const [, stem = path, extension = ''] = /^(.*[^/])(\.[^./]*)$/.exec(path) ?? []
  return `${stem}-${hash}${extension}`
}

/** The last segment, for display and for `Content-Disposition`. */
export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
