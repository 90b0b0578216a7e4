import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { HttpHandler } from '../../adapters/storage/files/object-handler.ts'
import { OBJECTS_PATH } from '../../adapters/storage/files/signed-link.ts'
import { isHandshake, type WebSockets } from './web-sockets.ts'
import { METRICS_PATH } from './telemetry/metrics-handler.ts'

/** Load balancers keep idle connections for 60 s. The server keeps them longer, so that it never closes one that is about to be used. */
const KEEP_ALIVE_MS = 65_000

/** The API, metrics and, below OBJECTS_PATH, presigned links on one port, so that a forwarded port is enough for links to work. */
export async function listen(options: {
  readonly app: { readonly fetch: (request: Request, env: unknown) => Response | Promise<Response> }
  /** Null when another server serves presigned links. */
  readonly objectHandler: HttpHandler | null
  /** Null or absent: the API answers METRICS_PATH like any unknown path. */
  readonly metricsHandler?: HttpHandler | null
  /** Null or absent: no connection becomes a WebSocket. */
  readonly webSockets?: WebSockets | null
  readonly host: string
  readonly port: number
}): Promise<{ readonly url: string; stop(): Promise<void> }> {
  // HTTP/1.0 requests, as some health probes send them, need no Host header.
  const api = getRequestListener((request, env) => options.app.fetch(request, env), { hostname: 'localhost' })
  const serve: HttpHandler = (request, response) => {
    const { metricsHandler, objectHandler } = options
    if (request.url === METRICS_PATH && metricsHandler) return metricsHandler(request, response)
    const isLink = request.url?.startsWith(`${OBJECTS_PATH}/`) === true
    return isLink && objectHandler !== null ? objectHandler(request, response) : void api(request, response)
  }
  const { webSockets = null } = options
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => webSockets !== null && isHandshake(request)
  const server = createServer({ shouldUpgradeCallback }, serve)
  server.on('upgrade', (request, socket, head) => {
    const fetch = (handshake: Request, env: unknown): Response | Promise<Response> => options.app.fetch(handshake, env)
    webSockets?.upgrade(fetch, request, socket, head).catch(() => socket.destroy())
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueOnRead(request, response)
    return serve(request, response)
  })
  // Uploads and long waits have their own limits.
  server.requestTimeout = 0
  server.keepAliveTimeout = KEEP_ALIVE_MS
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
        webSockets?.close()
      }),
  }
}

/** Answers `Expect: 100-continue` when the body is first read, so that a refused request is answered before the client sends its body. */
function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  // oxlint-disable no-underscore-dangle -- the method that a Node stream calls to get data
  const read = request._read.bind(request)
  request._read = (size) => {
    request._read = read
    if (!response.headersSent) response.writeContinue()
    read(size)
  }
}
