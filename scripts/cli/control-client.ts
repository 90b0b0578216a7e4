import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import type { Items } from '../../services/adapters/storage/rows/items.ts'
import { CommandError } from './command.ts'

/** The storage of a running server, through its control socket. */
export interface ControlClient {
  readonly items: Items
  backUp(folder: string): Promise<void>
}

export function createControlClient(socketPath: string): ControlClient {
  const items = <Method extends keyof Items>(method: Method): Items[Method] =>
    ((...args: readonly unknown[]) => send(socketPath, { call: 'items', method, args })) as Items[Method]
  return {
    items: {
      get: items('get'),
      put: items('put'),
      update: items('update'),
      delete: items('delete'),
      query: items('query'),
      getMany: items('getMany'),
      writeMany: items('writeMany'),
      scan: items('scan'),
      flush: items('flush'),
    },
    backUp: async (folder) => void (await send(socketPath, { call: 'backUp', folder })),
  }
}

async function send(socketPath: string, body: unknown): Promise<unknown> {
  const response = await post(socketPath, JSON.stringify(body)).catch((cause: unknown) => {
    throw new CommandError('The local server does not answer on its control socket. Check that it runs and that you are the same user.', {
      cause,
    })
  })
  const { result, error } = (await json(response)) as { readonly result?: unknown; readonly error?: string }
  if (error !== undefined) throw new CommandError(error)
  return result
}

const post = (socketPath: string, body: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path: '/', method: 'POST', headers: { 'content-type': 'application/json' } }, resolve)
    outgoing.once('error', reject)
    outgoing.end(body)
  })
