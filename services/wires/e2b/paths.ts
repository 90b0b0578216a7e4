import { posix } from 'node:path'
import { ServiceError } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'

/** The home folder of E2B's sandboxes. Here it is the folder whose files outlive the sandbox. */
const HOME = '/home/user'
const DATA = '/mnt/data'

export interface SandboxPath {
  /** Absolute path in the sandbox. */
  readonly real: string
  /** As the client names it: an absolute path. */
  readonly shown: string
  /** Relative to `/mnt/data`, for a path below it; null for any other. */
  readonly stored: string | null
}

/** A path of a client: absolute, or relative to the home folder. `~` and `/home/user` stand for `/mnt/data`. Throws ServiceError. */
export function sandboxPath(given: string): SandboxPath {
  if (given.includes('\0') || Buffer.byteLength(given) > LIMITS.maxPathBytes)
    throw new ServiceError(
      'invalid_file_name',
      `The path is longer than ${LIMITS.maxPathBytes} bytes or contains a null character. Use a shorter path without it.`,
    )
  const fromHome = given === '~' || given.startsWith('~/') ? HOME + given.slice(1) : given
  const absolute = posix.resolve(DATA, fromHome)
  const inHome = below(HOME, absolute)
  const real = inHome === null ? absolute : posix.join(DATA, inHome)
  const stored = below(DATA, real)
  return { real, shown: absolute, stored: stored === '' ? null : stored }
}

/** The part of a path below a folder: empty for the folder, null for a path elsewhere. */
const below = (folder: string, path: string): string | null =>
  path === folder ? '' : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null
