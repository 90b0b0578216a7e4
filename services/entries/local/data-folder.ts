import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from './config.ts'

/**
 * Refuses an existing data folder that another user owns or that version 0.1 wrote; withdraws access of other users. Throws ConfigError.
 * Answers with a sentence for the operator when it changed something.
 */
export async function checkDataFolder(dataDir: string, user: number | undefined = process.getuid?.()): Promise<string | null> {
  const folder = await stat(dataDir)
  if (user !== undefined && folder.uid !== user)
    throw new ConfigError(
      `The data folder ${dataDir} belongs to user ${folder.uid}, and this server runs as user ${user}. Change its owner (chown), or choose another folder: npm start -- --data DIR.`,
    )
  if (await isDirectory(join(dataDir, 'table')))
    throw new ConfigError(
      `The data folder ${dataDir} was written by Cellblock 0.1, whose database this version cannot read. Choose a new folder, or start version 0.1 on this one.`,
    )
  // Windows has no such mode.
  if (user === undefined || (folder.mode & 0o077) === 0) return null
  await chmod(dataDir, 0o700)
  return `The data folder ${dataDir} was accessible to other users of this machine. Its mode is 700 now.`
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
