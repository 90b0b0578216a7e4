import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { hasDotSegments, refuseDotSegments } from '../../http/dot-segments.ts'
import { guardConnections } from '../../http/connection-guard.ts'
import { LIMITS } from '../../model/limits.ts'
import type { HttpHandler } from '../../adapters/storage/files/object-handler.ts'
import { OBJECTS_PATH } from '../../adapters/storage/files/signed-link.ts'
import type { PortProxy } from '../../http/port-proxy/port-proxy.ts'
import { listenOn } from './acceptors.ts'
import { WILDCARDS } from './config.ts'
import { isHandshake, isWebSocket, type WebSockets } from './web-sockets.ts'
import { METRICS_PATH } from './telemetry/metrics-handler.ts'

/** Load balancers keep idle connections for 60 s. The server keeps them longer, so that it never closes one that is about to be used. */
const KEEP_ALIVE_MS = 65_000

interface ListenOptions {
  readonly app: { readonly fetch: (request: Request, env: unknown) => Response | Promise<Response> }
  /** Null when another server serves presigned links. */
  readonly objectHandler: HttpHandler | null
  /** Null or absent: the API answers METRICS_PATH like any unknown path. */
  readonly metricsHandler?: HttpHandler | null
  /** Null or absent: no connection becomes a WebSocket. */
  readonly webSockets?: WebSockets | null
  /** Null or absent: no host name is that of a port of a sandbox. */
  readonly ports?: PortProxy | null
  readonly host: string
  readonly port: number
  /** A connection whose client reads nothing for this time is closed, milliseconds. */
  readonly stallMs?: number
  /** Connections of one address on which no request had a valid key. */
  readonly maxKeyless?: number
  /** Connections of one tenant. */
  readonly maxOfTenant?: number
  /** Requests of one tenant whose client has left. */
  readonly maxAbandoned?: number
}

/** The API, metrics and, below OBJECTS_PATH, presigned links on one port, so that a forwarded port is enough for links to work. */
export async function listen(options: ListenOptions): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { webSockets = null, ports = null } = options
  const isOfPort = (request: IncomingMessage): boolean => ports?.serves(request) === true
  const shouldUpgradeCallback = (request: IncomingMessage): boolean =>
    isOfPort(request) ? isWebSocket(request) : webSockets !== null && isHandshake(request)
  const server = createServer({ shouldUpgradeCallback })
  const { stallMs = LIMITS.stallSeconds * 1000 } = options
  const { maxKeyless = LIMITS.maxKeylessConnections, maxOfTenant = LIMITS.maxTenantConnections } = options
  const { maxAbandoned = LIMITS.maxAbandonedRequests } = options
  const guard = guardConnections(server, { stallMs, maxKeyless, maxOfTenant, maxAbandoned })
  const identifies = (request: IncomingMessage) => ({ identified: (tenant: string) => guard.hold(request, tenant) })
  const identifiesVisit = (request: IncomingMessage) => (tenant: string) => guard.identify(request, tenant)
  const perform = async (request: Request, env: { readonly incoming: IncomingMessage }): Promise<Response> => {
    const answer = await options.app.fetch(request, { ...env, ...identifies(env.incoming) })
    if (!env.incoming.complete) endConnection(answer)
    return answer
  }
  // HTTP/1.0 requests, as some health probes send them, need no Host header.
  const api = getRequestListener((request, env) => perform(request, env as { incoming: IncomingMessage }), { hostname: 'localhost' })
  const serve: HttpHandler = (request, response) => {
    const { metricsHandler, objectHandler } = options
    if (isOfPort(request)) return void ports?.serve(request, response, identifiesVisit(request))
    if (hasDotSegments(request.url ?? '')) return void refuseDotSegments(request, response)
    if (request.url === METRICS_PATH && metricsHandler) return metricsHandler(request, response)
    const isLink = request.url?.startsWith(`${OBJECTS_PATH}/`) === true
    if (!isLink || objectHandler === null) return void api(request, response)
    guard.identifyUntilAnswered(request, response)
    return objectHandler(request, response)
  }
  server.on('request', serve)
  server.on('upgrade', (request, socket, head) => {
    guard.upgrade(request, isOfPort(request) ? 'bytes' : 'frames')
    if (isOfPort(request)) return void ports?.upgrade(request, { socket, head }, identifiesVisit(request))
    if (hasDotSegments(request.url ?? '')) return void socket.destroy()
    const env = identifies(request)
    const fetch = (handshake: Request): Response | Promise<Response> => options.app.fetch(handshake, env)
    webSockets?.upgrade(fetch, { incoming: request, socket, head }).catch(() => socket.destroy())
  })
  server.on('checkContinue', (request, response) => {
    continueOnRead(request, response)
    serve(request, response)
  })
  // A body that makes progress may take longer than Node's five minutes; one that makes none is refused by the API.
  server.requestTimeout = 0
  server.keepAliveTimeout = KEEP_ALIVE_MS
  const acceptors = await listenOn(server, options)
  return {
    // Clients cannot connect to a wildcard address.
    url: `http://${WILDCARDS.includes(options.host) ? '127.0.0.1' : options.host}:${acceptors.port}`,
    stop: async () => {
      ports?.close()
      const closed = acceptors.close()
      server.closeAllConnections()
      webSockets?.close()
      await closed
    },
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

/**
 * An answer that comes before the end of its request is the last one of its connection, and says so: a client that has just sent the rest would otherwise send
 * its next request on a connection that is being closed (RFC 9112, section 9.6).
 */
const endConnection = ({ headers }: Response): void => headers.set('connection', 'close')
