import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { describeCause } from '../../model/describe-cause.ts'
import type { LocalStorage } from './storage/local-storage.ts'

export interface ControlSocket {
  readonly path: string
  close(): Promise<void>
}

type ControlRequest =
  | { readonly call: 'items'; readonly method: string; readonly args: readonly unknown[] }
  | { readonly call: 'backUp'; readonly folder: string }

const ITEM_METHODS = ['get', 'put', 'update', 'delete', 'query', 'getMany', 'writeMany', 'scan'] as const
const isItemMethod = (name: string): name is (typeof ITEM_METHODS)[number] => (ITEM_METHODS as readonly string[]).includes(name)

/**
 * Lets the command line use the storage of the running server: a Unix socket with mode 600 in a folder with mode 700, so that only the
 * server's own user and root reach it. Nothing listens on the network.
 */
export async function openControlSocket(storage: Pick<LocalStorage, 'items' | 'backUp'>): Promise<ControlSocket> {
  // The path of a Unix socket has at most 107 bytes, so the socket is not in the data folder.
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-control-'))
  const path = join(folder, 'socket')
  const server = createServer((request, response) => void serve(storage, request, response))
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

async function serve(storage: Pick<LocalStorage, 'items' | 'backUp'>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const result = await perform(storage, (await json(request)) as ControlRequest)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ result: result ?? null }))
  } catch (error) {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: describeCause(error) }))
  }
}

async function perform({ items, backUp }: Pick<LocalStorage, 'items' | 'backUp'>, request: ControlRequest): Promise<unknown> {
  if (request.call === 'backUp') {
    if (backUp === null) throw new Error('The storage of this server is in AWS. Back it up there.')
    return backUp(request.folder)
  }
  if (!isItemMethod(request.method)) throw new Error(`The storage has no operation ${JSON.stringify(request.method)}.`)
  const method = items[request.method].bind(items) as (...args: readonly unknown[]) => Promise<unknown>
  return method(...request.args)
}
