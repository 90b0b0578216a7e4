import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DriverError } from '../../../ports/sandbox-driver.ts'
import { mountControlFolder, unmountControlFolder } from './control-mount.ts'

/** Programs listen on the name of their machine. */
export const HOST_NAME = 'sandbox'
const HOSTS = `127.0.0.1\tlocalhost ${HOST_NAME}\n::1\tlocalhost ip6-localhost ip6-loopback\n`

/** The kernel takes no longer path to a Unix socket. */
const MAX_SOCKET_PATH_BYTES = 107

export const defaultControlRoot = (): string => join(tmpdir(), `cellblock-${process.getuid?.() ?? 0}`)

/** A separate folder per sandbox, so that a compromised sandbox cannot take the place of another. Short, because socket paths are limited. */
export const controlFolder = (root: string, sandboxId: string): string =>
  join(root, createHash('sha256').update(sandboxId).digest('hex').slice(0, 16))

export const controlSocket = (root: string, sandboxId: string): string => join(controlFolder(root, sandboxId), 'supervisor.sock')

/** `/etc/hosts` of every sandbox: the engine writes none for a container whose network is disabled. */
export const hostsFileOf = (folder: string): string => join(dirname(folder), 'hosts')

/** A file that tells the supervisor that its sandbox continues from a checkpoint (runtime-image/PROTOCOL.md). */
export const resumptionMark = (socketPath: string): string => join(dirname(socketPath), 'resumed')

/**
 * Makes the folder that the sandbox's root and the host's user share. Root without capabilities obeys modes, so the folder is open to all, below a
 * root that only the host's user may enter. Throws DriverError `configuration` when another user owns the root or its path is too long.
 */
export async function makeControlFolder(root: string, sandboxId: string): Promise<string> {
  const socket = controlSocket(root, sandboxId)
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH_BYTES) {
    throw new DriverError(
      'configuration',
      `The control folder ${root} is too long for a Unix socket: ${socket} has ${Buffer.byteLength(socket)} bytes, ${MAX_SOCKET_PATH_BYTES} are possible. Choose a shorter one.`,
    )
  }
  await mkdir(root, { recursive: true, mode: 0o700 })
  const seen = await lstat(root)
  if (!seen.isDirectory() || (process.getuid && seen.uid !== process.getuid())) {
    throw new DriverError('configuration', `The control folder ${root} belongs to another user. Remove it or choose another folder.`)
  }
  if ((seen.mode & 0o077) !== 0) await chmod(root, 0o700)
  const folder = controlFolder(root, sandboxId)
  await writeHostsFile(folder)
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o777)
  await mountControlFolder(folder)
  return folder
}

/** Beside a control folder. Every user of a sandbox reads it, whatever the mask of this process. */
export async function writeHostsFile(folder: string): Promise<void> {
  await createFile(hostsFileOf(folder), HOSTS)
  await chmod(hostsFileOf(folder), 0o644)
}

/** Exclusive: what a sandbox leaves in its folder, such as a link, is never followed. */
export async function createFile(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

export async function removeControlFolder(root: string, sandboxId: string): Promise<void> {
  const folder = controlFolder(root, sandboxId)
  await unmountControlFolder(folder)
  await rm(folder, { recursive: true, force: true })
}

/** The folders of control sockets, as this process sees them. */
export interface ControlFolders {
  socketOf(sandboxId: string): string
  /** Resolves with the folder that the engine mounts. */
  make(sandboxId: string): Promise<string>
  remove(sandboxId: string): Promise<void>
}

/** This process makes the folders on the engine's own machine. */
export const ownControlFolders = (root: string): ControlFolders => ({
  socketOf: (sandboxId) => controlSocket(root, sandboxId),
  make: (sandboxId) => makeControlFolder(root, sandboxId),
  remove: (sandboxId) => removeControlFolder(root, sandboxId),
})

/** The engine proxy makes and removes them with their containers, in a folder that this process only reads. */
export const proxiedControlFolders = (root: string): ControlFolders => ({
  socketOf: (sandboxId) => controlSocket(root, sandboxId),
  make: async (sandboxId) => controlFolder(root, sandboxId),
  remove: async () => undefined,
})
