import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../storage/sqlite/sqlite-error.ts'
import { ConfigError } from './config.ts'

/**
 * Refuses a second process on a data folder, because two would overwrite each other. The operating system holds the lock (of SQLite, on a separate
 * file), so exactly one of several starts gets it, and a killed process holds it no longer. Throws ConfigError while another process has it.
 */
export async function lockDataDir(dataDir: string): Promise<{ release(): Promise<void> }> {
  await makeFolder(dataDir)
  const pidFile = join(dataDir, 'server.pid')
  const lock = new DatabaseSync(join(dataDir, 'lock.sqlite'), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    const holder = (await readFile(pidFile, 'utf8').catch(() => '')).trim() || 'unknown'
    throw new ConfigError(
      `The data folder ${dataDir} is used by another process (${holder}), a server or a command. Stop it, or choose another folder: npm start -- --data DIR.`,
    )
  }
  await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    async release() {
      await rm(pidFile, { force: true })
      lock.close()
    },
  }
}

/** Creates each folder in turn, because the recursive call never returns where no folders can be created, such as below /proc. Throws the system's error. */
async function makeFolder(path: string): Promise<void> {
  const seen = await stat(path).catch(() => null)
  if (seen?.isDirectory() === true) return
  const parent = dirname(path)
  if (parent !== path) await makeFolder(parent)
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    // Another server may have created it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST' && seen === null)) throw error
  })
}
