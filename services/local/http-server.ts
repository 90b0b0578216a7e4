import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { HttpHandler } from '../storage/files/object-handler.ts'
import { OBJECTS_PATH } from '../storage/files/signed-link.ts'

/** The API and, below OBJECTS_PATH, presigned links on one port, so that a forwarded port is enough for links to work. */
export async function listen(options: {
  readonly app: { readonly fetch: (request: Request, env: unknown) => Response | Promise<Response> }
  /** Null when another server serves presigned links. */
  readonly objectHandler: HttpHandler | null
  readonly host: string
  readonly port: number
}): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const api = getRequestListener((request, env) => options.app.fetch(request, env))
  const server = createServer((request, response) => {
    const isLink = request.url?.startsWith(`${OBJECTS_PATH}/`) === true
    return isLink && options.objectHandler !== null ? options.objectHandler(request, response) : void api(request, response)
  })
  // Uploads and long waits have their own limits.
  server.requestTimeout = 0
  server.keepAliveTimeout = 30_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${options.host}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
