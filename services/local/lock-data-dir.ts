import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError } from './config.ts'
import { isAlive } from './remove-orphaned-sandboxes.ts'

/**
 * Keeps a second server off a data folder: two would overwrite each other. What a killed server left is taken over. Throws ConfigError
 * while a live server holds it.
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

/** Numbers of processes are used again, in a container after every restart. Where the system tells no command line, the number is believed. */
async function isServer(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  return command === null || command.includes('local/main.ts')
}

/** Step by step: the recursive way never ends where the system takes no folders, such as below /proc. Throws the system's error. */
async function makeFolder(path: string): Promise<void> {
  const seen = await stat(path).catch(() => null)
  if (seen?.isDirectory() === true) return
  const parent = dirname(path)
  if (parent !== path) await makeFolder(parent)
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    // Another server may have made it in between.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST' && seen === null)) throw error
  })
}
