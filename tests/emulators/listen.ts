import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextPass } from 'node:timers/promises'

export interface Listening {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string
  stop(): Promise<void>
}

/** A request that is not answered within this time at the end, because its client left, is given up, milliseconds. */
const END_MS = 1_000

/** Listens on a free port of the loopback interface. */
export async function listenOnLoopback(server: Server): Promise<Listening> {
  server.keepAliveTimeout = 60_000
  const unanswered = new Set<ServerResponse>()
  server.prependListener('request', (_request, response: ServerResponse) => {
    for (const one of unanswered) if (one.writableEnded) unanswered.delete(one)
    unanswered.add(response)
  })
  /** An emulator continues a request whose client has left, and fails when its store is closed meanwhile. */
  const answered = async (): Promise<void> => {
    const deadline = performance.now() + END_MS
    while ([...unanswered].some(({ writableEnded }) => !writableEnded) && performance.now() < deadline) await nextPass()
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      await answered()
      await new Promise<void>((resolve, reject) => {
        server.close((error) => (error === undefined || error === null ? resolve() : reject(error)))
        server.closeAllConnections()
      })
    },
  }
}
