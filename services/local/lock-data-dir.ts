import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError } from './config.ts'
import { isAlive } from './remove-orphaned-sandboxes.ts'

/**
 * Refuses a second server on a data folder, because two servers would overwrite each other. The lock of a killed server is taken over. Throws
 * ConfigError while a live server holds it.
 */
export async function lockDataDir(dataDir: string): Promise<{ release(): Promise<void> }> {
  await makeFolder(dataDir)
  const file = join(dataDir, 'server.pid')
  const holder = Number(await readFile(file, 'utf8').catch(() => ''))
  if (holder > 0 && holder !== process.pid && isAlive(holder) && (await isServer(holder)))
    throw new ConfigError(
      `The data folder ${dataDir} is used by another server (process ${holder}). Stop it, or choose another folder: npm start -- --data DIR. If that process is no server, delete ${file}.`,
    )
  await writeFile(file, `${process.pid}\n`, { mode: 0o600 })
  return { release: () => rm(file, { force: true }) }
}

/** Process ids are reused, in a container after every restart, so the command line is compared too. If it is not available, the id alone counts. */
async function isServer(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  return command === null || command.includes('local/main.ts')
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
