import type { Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net'

/** Sockets that listen on the port of one server. Linux holds 511 connections of each until they are accepted, and drops a further one (Node's `backlog`). */
const ACCEPTORS = 32

export interface Acceptors {
  readonly port: number
  /** Resolves when no connection of the server is open any more. */
  close(): Promise<void>
}

/**
 * Listens with several sockets on one port, to which Linux assigns connections by their addresses. Node accepts one connection of a socket in each pass of its
 * event loop, so with one socket a client would wait as many passes as others opened connections before it.
 */
export async function listenOn(server: HttpServer, { host, port }: { readonly host: string; readonly port: number }): Promise<Acceptors> {
  // Only Linux assigns connections fairly (https://nodejs.org/api/net.html#serverlistenoptions-callback).
  if (process.platform !== 'linux') return acceptorsOf([await listening(server, { host, port })])
  const shared = { host, reusePort: true }
  // Sockets that share a port do not see that another server of this user has it.
  if (port !== 0) await close(await listening(createServer(), { host, port }))
  await listening(server, { ...shared, port })
  const others = Array.from({ length: ACCEPTORS - 1 }, () =>
    // As the server of HTTP accepts them.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
  )
  await Promise.all(others.map((other) => listening(other, { ...shared, port: portOf(server) })))
  return acceptorsOf([server, ...others])
}

const acceptorsOf = (servers: readonly [Server, ...Server[]]): Acceptors => ({
  port: portOf(servers[0]),
  close: async () => void (await Promise.all(servers.map(close))),
})

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const listening = <Listener extends Server>(server: Listener, options: ListenOptions): Promise<Listener> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve(server)
    })
  })

const close = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()))
