import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const FOLDER = join(dirname(dirname(dirname(import.meta.dirname))), '.cellblock', 'servers')

/** Tells the command line how to reach this server: `.cellblock/servers/<port>.json`, while the server runs. */
export async function announceServer(server: {
  readonly url: string
  readonly controlSocket: string
  readonly dataDir: string | null
}): Promise<{ remove(): Promise<void> }> {
  const file = join(FOLDER, `${new URL(server.url).port}.json`)
  await mkdir(FOLDER, { recursive: true })
  await writeFile(file, JSON.stringify({ pid: process.pid, ...server }, null, 2), { mode: 0o600 })
  return { remove: () => rm(file, { force: true }) }
}
