import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { describeCause } from '../../model/describe-cause.ts'
import type { LocalStorage } from './storage/local-storage.ts'

export interface ControlSocket {
  readonly path: string
  close(): Promise<void>
}

/** The only request that is not one of the API: it writes a folder on this machine. */
const BACKUP_PATH = '/backup'

/**
 * Serves the API with an implicit administrator to the command line: a Unix socket with mode 600 in a folder with mode 700, so that only the
 * server's own user and root reach it. Nothing listens on the network.
 */
export async function openControlSocket({
  administer,
  backUp,
}: {
  readonly administer: (request: Request) => Promise<Response>
  readonly backUp: LocalStorage['backUp']
}): Promise<ControlSocket> {
  // The path of a Unix socket has at most 107 bytes, so the socket is not in the data folder.
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-control-'))
  const path = join(folder, 'socket')
  const api = getRequestListener(administer, { hostname: 'localhost' })
  const server = createServer((request, response) =>
    request.url === BACKUP_PATH ? void serveBackup(backUp, request, response) : void api(request, response),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return {
    path,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function serveBackup(backUp: LocalStorage['backUp'], request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { folder } = (await json(request)) as { readonly folder: string }
    if (backUp === null) throw new Error('The storage of this server is in AWS. Back it up there.')
    await backUp(folder)
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: describeCause(error) } }))
  }
}
