import { LIMITS } from '../../model/limits.ts'

/** The request target of a file: each segment percent-encoded by itself, so that no name can add a segment, a query or a fragment. */
export const fileTarget = (path: string): string => `/files/${path.split('/').map(encodeURIComponent).join('/')}`

/** Whether a path that a sandbox reports has the one form the protocol allows: relative, `/`-separated, no empty, `.` or `..` segment. */
export const isSandboxPath = (path: string): boolean =>
  path.isWellFormed() &&
  Buffer.byteLength(path) <= 4 * LIMITS.maxPathBytes &&
  !path.includes('\0') &&
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
