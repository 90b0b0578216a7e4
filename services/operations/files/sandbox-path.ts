import { posix } from 'node:path'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'

/** The home folder by the name that clients of other sandbox services know. Here it is the folder whose files outlive the sandbox. */
export const HOME = '/home/user'
const DATA = '/mnt/data'

export interface SandboxPath {
  /** Absolute path in the sandbox. */
  readonly real: string
  /** As the client names it: an absolute path. */
  readonly shown: string
  /** Relative to `/mnt/data`, for a path below it; null for any other. */
  readonly stored: string | null
}

/** Links of the image to `/mnt/data`: folders that such clients expect at the root. */
const LINKS: readonly string[] = [
  HOME,
  '/workspace',
  '/workspaces',
  '/app',
  '/code',
  '/data',
  '/project',
  '/repo',
  '/src',
  '/testbed',
  '/work',
]

/** A path of a client: absolute, or relative to the home folder `/home/user`, which is `/mnt/data`. Throws ServiceError. */
export function sandboxPath(given: string): SandboxPath {
  if (given.includes('\0') || Buffer.byteLength(given) > LIMITS.maxPathBytes)
    throw new ServiceError(
      'invalid_file_name',
      `The path is longer than ${LIMITS.maxPathBytes} bytes or contains a null character. Use a shorter path without it.`,
    )
  const fromHome = given === '~' || given.startsWith('~/') ? HOME + given.slice(1) : given
  const absolute = posix.resolve(HOME, fromHome)
  const inLink = LINKS.map((link) => below(link, absolute)).find((rest) => rest !== null)
  const real = inLink === undefined ? absolute : posix.join(DATA, inLink ?? '')
  const stored = below(DATA, real)
  return { real, shown: absolute, stored: stored === '' ? null : stored }
}

/** A path of the sandbox as such a client names it. */
export function shownPath(real: string): string {
  const inData = below(DATA, real)
  return inData === null ? real : posix.join(HOME, inData)
}

/** The part of a path below a folder: empty for the folder, null for a path elsewhere. */
const below = (folder: string, path: string): string | null =>
  path === folder ? '' : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null
