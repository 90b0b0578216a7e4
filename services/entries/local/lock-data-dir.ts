import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError } from './config.ts'
import { lockFile } from './lock-file.ts'

/**
 * Refuses a second process on a data folder, because two would overwrite each other. The lock is on a separate file. Throws ConfigError while
 * another process has it.
 */
export async function lockDataDir(dataDir: string): Promise<{ release(): Promise<void> }> {
  await makeFolder(dataDir)
  const pidFile = join(dataDir, 'server.pid')
  const lock = lockFile(join(dataDir, 'lock.sqlite'))
  if (lock === null) {
    const holder = (await readFile(pidFile, 'utf8').catch(() => '')).trim() || 'unknown'
    throw new ConfigError(
      `The data folder ${dataDir} is used by another process (${holder}), a server or a command. Stop it, or choose another folder: npm start -- --data DIR.`,
    )
  }
  await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return {
    async release() {
      await rm(pidFile, { force: true })
      lock.release()
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
