import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Listening {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string
  stop(): Promise<void>
}

/** Listens on a free port of the loopback interface. */
export async function listenOnLoopback(server: Server): Promise<Listening> {
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined || error === null ? resolve() : reject(error)))
        server.closeAllConnections()
      }),
  }
}
