import { existsSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFile } from '../lock-file.ts'

const PREFIX = 'cellblock-data-'
const LOCK_FILE = 'lock.sqlite'

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

/** Makes a folder for the data of this process, which it locks, and removes the folders of processes that ended without doing so. */
export async function openTemporaryFolder(parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, PREFIX))
  const lock = lockFile(join(path, LOCK_FILE))
  await removeAbandoned(parent)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      lock?.release()
    },
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  const names = await readdir(parent).catch((): string[] => [])
  for (const name of names) if (name.startsWith(PREFIX)) await removeIfAbandoned(join(parent, name)).catch(() => undefined)
}

/** A folder without the lock file may belong to a process that is about to make it. */
async function removeIfAbandoned(path: string): Promise<void> {
  const folder = await lstat(path)
  const lockPath = join(path, LOCK_FILE)
  if (!folder.isDirectory() || folder.uid !== process.getuid?.() || !existsSync(lockPath)) return
  const lock = lockFile(lockPath)
  if (lock === null) return
  try {
    await rm(path, { recursive: true, force: true })
  } finally {
    lock.release()
  }
}
