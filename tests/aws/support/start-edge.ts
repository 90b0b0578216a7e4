import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Edge {
  readonly url: string
  /** The distribution that it stands for from now on. */
  setDistribution(host: string): void
  stop(): Promise<void>
}

/** A port of this machine that stands for the host name of a distribution, which no DNS knows. */
export async function startEdge(endpoint: string): Promise<Edge> {
  let host = ''
  const { hostname, port } = new URL(endpoint)
  const server = createServer((asked, answer) => {
    // As behind something that ends TLS: the distribution takes nothing else.
    const headers = { ...asked.headers, host, 'x-forwarded-proto': 'https' }
    const passed = send({ hostname, port, method: asked.method, path: asked.url, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setDistribution: (name) => {
      host = name
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
