import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { LOCAL_S3_PATH } from '../storage/clients.ts'

/** The API and, under `/s3`, the local object store on one port: a forwarded port is enough for links to work. */
export async function listen(options: {
  readonly app: { readonly fetch: (request: Request, env: unknown) => Response | Promise<Response> }
  readonly s3: RequestListener
  readonly host: string
  readonly port: number
}): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const api = getRequestListener((request, env) => options.app.fetch(request, env))
  const server = createServer((request, response) => {
    const isStore = request.url?.startsWith(`${LOCAL_S3_PATH}/`) === true
    return isStore ? options.s3(request, response) : void api(request, response)
  })
  // Uploads and long waits have limits of their own.
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
