import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { CliError } from '../../packages/cli/src/errors.ts'

const ServerFile = z.object({ pid: z.number().int(), url: z.string(), controlSocket: z.string(), dataDir: z.string().nullable() })
export type LocalServer = z.infer<typeof ServerFile> & { readonly port: number }

/** The running local servers: each has a file `<port>.json` in this folder and removes it when it stops. */
export async function listLocalServers(folder: string): Promise<readonly LocalServer[]> {
  const names = await readdir(folder).catch(() => [])
  const found = await Promise.all(
    names.filter((name) => /^\d+\.json$/.test(name)).map((name) => readNote(join(folder, name), Number.parseInt(name, 10))),
  )
  return found.filter((server) => server !== null && isAlive(server.pid)) as readonly LocalServer[]
}

async function readNote(path: string, port: number): Promise<LocalServer | null> {
  try {
    return { port, ...ServerFile.parse(JSON.parse(await readFile(path, 'utf8'))) }
  } catch {
    return null
  }
}

/** A killed server leaves its file. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The server on the port, or the only one. Throws CliError. */
export function chooseLocalServer(servers: readonly LocalServer[], port: number | null): LocalServer {
  const wanted = port === null ? servers : servers.filter((server) => server.port === port)
  const [first, ...more] = wanted
  if (first === undefined) {
    const where = port === null ? '' : ` on port ${port}`
    throw new CliError(
      `No local server is running${where}. Start one with \`npm start\`, or name a table in AWS with --table NAME or TABLE_NAME.`,
    )
  }
  if (more.length > 0) {
    const ports = wanted.map((server) => server.port).join(', ')
    throw new CliError(
      `Several local servers are running (ports ${ports}). Say which one you mean with PORT, for instance PORT=${first.port}.`,
    )
  }
  return first
}
