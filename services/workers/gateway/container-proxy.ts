import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { TLSSocket, type SecureContext } from 'node:tls'
import { normalizeHost } from '../../model/network/host.ts'
import { decideRequest } from '../../model/network/policy.ts'
import { findRule, HTTPS, type NetworkDecision } from '../../model/network/rule.ts'
import type { NetworkAttachment, NetworkRequestReport } from '../../ports/network-gateway.ts'
import type { CertificateIssuer } from './certificates.ts'
import { Exchange, type Destination, type ExchangeEnd } from './exchange.ts'
import { onceAnswered, valuesOf } from './headers.ts'
import { answerRefusal, endWithRefusal } from './refusal.ts'
import type { TenantBudget } from './tenant-budget.ts'
import type { Turns } from './turns.ts'
import { Upstream, type UpstreamOptions } from './upstream.ts'

const HTTP = 80
/** A connection without any traffic ends. */
const IDLE_MS = 300_000
const MAX_HEAD_BYTES = 32 * 1024
/** Requests of one connection that have no answer yet. No client sends the next one before the answer; Node reads all that are there at once. */
const MAX_UNANSWERED = 4

export interface ProxyContext {
  readonly issuer: CertificateIssuer
  readonly upstream: UpstreamOptions
  readonly turns: Turns
  readonly report: (report: NetworkRequestReport) => void
  readonly now: () => number
}

/** Where the requests of a connection go: CONNECT decided that. */
interface Tunnel {
  readonly host: string
  readonly port: number
}

interface Running {
  readonly exchange: Exchange
  readonly destination: Destination
  readonly method: string
}

type Messages = readonly [IncomingMessage, ServerResponse]

/**
 * The proxy of one container. The connections that it serves come from that container's supervisor, so nothing that code writes decides whose policy
 * applies. Every request is decided on its own with the policy of that moment.
 */
export class ContainerProxy {
  readonly #context: ProxyContext
  readonly #budget: TenantBudget
  readonly #proxy: Server
  readonly #inner: Server
  readonly #tunnels = new WeakMap<object, Tunnel>()
  readonly #streams = new Set<Duplex>()
  readonly #running = new Set<Running>()
  readonly #unanswered = new WeakMap<object, number>()
  #upstream: Upstream
  #attachment: NetworkAttachment
  #bytesLeft: number | null

  constructor(context: ProxyContext, budget: TenantBudget, attachment: NetworkAttachment) {
    this.#context = context
    this.#budget = budget
    this.#attachment = attachment
    this.#bytesLeft = attachment.bytesLeft
    this.#upstream = new Upstream(context.upstream, attachment.deny)
    this.#proxy = newServer((...messages) => this.#onProxied(messages))
    this.#proxy.on('connect', (incoming, stream, head) => {
      // A client may send more without waiting for the answer.
      if (head.length > 0) stream.unshift(head)
      this.#onConnect(incoming, stream)
    })
    this.#inner = newServer((...messages) => this.#onTunnelled(messages))
  }

  /** A connection of user code. */
  serve(stream: Duplex): void {
    const refusal = this.#budget.open()
    if (refusal !== null) return endWithRefusal(stream, 503, refusal)
    this.#streams.add(stream)
    stream.on('error', () => undefined)
    stream.once('close', () => {
      this.#streams.delete(stream)
      this.#budget.close()
    })
    this.#proxy.emit('connection', stream)
  }

  /** The policy of an attached container was replaced: running requests that it does not allow end. */
  replace(attachment: NetworkAttachment): void {
    this.#attachment = attachment
    this.#bytesLeft = attachment.bytesLeft
    // Open connections to hosts were made under the former policy.
    this.#upstream.close()
    this.#upstream = new Upstream(this.#context.upstream, attachment.deny)
    for (const { exchange, destination, method } of this.#running) {
      const decision = this.#decide(destination, method)
      if (!decision.allowed) exchange.abort(decision.reason)
    }
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy()
    this.#upstream.close()
  }

  /** An absolute-form request, over plain HTTP. */
  #onProxied(messages: Messages): void {
    const [incoming, outgoing] = messages
    const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(incoming.url ?? '') ?? []
    const target = parseAuthority(authority, HTTP)
    if (target === null)
      return answerRefusal(outgoing, 400, 'This is a proxy: send the whole address of a host, as programs with HTTP_PROXY do.')
    this.#serveRequest(messages, { ...target, isSecure: false, path: path.startsWith('/') ? path : `/${path}` })
  }

  /** A request in a tunnel. Its connection names the host. */
  #onTunnelled(messages: Messages): void {
    const [incoming, outgoing] = messages
    const tunnel = this.#tunnels.get(incoming.socket)
    if (tunnel === undefined || !incoming.url?.startsWith('/'))
      return answerRefusal(outgoing, 400, 'The request line must begin with a path.')
    this.#serveRequest(messages, { ...tunnel, isSecure: tunnel.port === HTTPS, path: incoming.url })
  }

  #serveRequest([incoming, outgoing]: Messages, destination: Destination): void {
    if (!this.#isInTurn(incoming, outgoing)) return
    const method = incoming.method ?? ''
    const refuse = (status: number, reason: string): void => {
      onceAnswered(incoming, outgoing, () => this.#report({ destination, method }, refused(status, reason)))
      answerRefusal(outgoing, status, reason)
    }
    // Before anything is reported: a flood of refused requests would be a flood of reports.
    const limited = this.#budget.request()
    if (limited !== null) return answerRefusal(outgoing, 429, limited)
    if (!namesHost(incoming, destination))
      return refuse(403, `The Host header must name ${destination.host}, to which the connection goes.`)
    const decision = this.#decide(destination, method)
    if (!decision.allowed) return refuse(403, decision.reason)
    const full = this.#budget.begin()
    if (full !== null) return refuse(503, full)
    const exchange = new Exchange(
      {
        upstream: this.#upstream,
        secrets: this.#attachment.secrets,
        inTurn: (work) => this.#context.turns.take(this.#attachment.tenant, work),
        spend: (bytes) => this.#spend(bytes),
        onEnd: (end) => {
          this.#running.delete(running)
          this.#budget.end()
          this.#report({ destination, method }, end)
        },
      },
      destination,
      { incoming, outgoing },
    )
    const running: Running = { exchange, destination, method }
    this.#running.add(running)
    exchange.start(decision.rule)
  }

  /** False: the client sends requests without waiting for answers, and its connection was ended. */
  #isInTurn(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { socket } = incoming
    if (socket.destroyed) return false
    const count = (this.#unanswered.get(socket) ?? 0) + 1
    this.#unanswered.set(socket, count)
    onceAnswered(incoming, outgoing, () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1))
    if (count <= MAX_UNANSWERED) return true
    this.#budget.penalize()
    socket.destroy()
    return false
  }

  #onConnect(incoming: IncomingMessage, stream: Duplex): void {
    const target = parseAuthority(incoming.url ?? '', null)
    if (target === null) return endWithRefusal(stream, 400, 'CONNECT needs the name of a host and a port.')
    const refusal = this.#refuseTunnel(target)
    if (refusal !== null) {
      const limited = this.#budget.request()
      if (limited !== null) return endWithRefusal(stream, 429, limited)
      this.#reportTunnel(target, refusal)
      return endWithRefusal(stream, 403, refusal)
    }
    stream.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (target.port === HTTPS) return void this.#openTls(stream, target)
    this.#tunnels.set(stream, target)
    this.#inner.emit('connection', stream)
  }

  /** Why no request to this host could be allowed; null when that depends on the request. */
  #refuseTunnel({ host, port }: Tunnel): string | null {
    const request = { host, port, method: 'GET', path: '/' }
    const decision = decideRequest(this.#attachment, request)
    if (decision.allowed) return null
    if (decision.by === 'ceiling') {
      const limit = findRule(this.#attachment.ceiling, host, request)
      return !limit.allowed && limit.by === 'host' ? decision.reason : null
    }
    return ['address', 'port', 'host'].includes(decision.by) ? decision.reason : null
  }

  /** The client must ask for the certificate of the very host of the tunnel. For an address, TLS has no name that it could ask for. */
  async #openTls(stream: Duplex, tunnel: Tunnel): Promise<void> {
    const isNamed = isIP(tunnel.host) === 0
    const secureContext = isNamed ? undefined : await this.#certificate(tunnel.host)
    if (stream.destroyed) return
    const secure = new TLSSocket(stream, {
      isServer: true,
      ...(secureContext !== undefined && { secureContext }),
      ALPNProtocols: ['http/1.1'],
      SNICallback: (name, callback) => {
        if (normalizeHost(name) !== tunnel.host) {
          if (this.#budget.request() === null) this.#reportTunnel(tunnel, `The TLS handshake names another host than ${tunnel.host}.`)
          return callback(new Error('The name in the TLS handshake is not that of the tunnel.'))
        }
        this.#certificate(tunnel.host).then((context) => callback(null, context), callback)
      },
    })
    secure.on('error', () => secure.destroy())
    secure.once('close', () => stream.destroy())
    secure.once('secure', () => {
      // Without a name the callback was not called.
      if (isNamed && normalizeHost(String((secure as { readonly servername?: unknown }).servername)) !== tunnel.host)
        return secure.destroy()
      this.#tunnels.set(secure, tunnel)
      this.#inner.emit('connection', secure)
    })
  }

  /** A new certificate costs as much as several requests, and a policy can have any number of names. */
  async #certificate(host: string): Promise<SecureContext> {
    const { issuer } = this.#context
    const waitMs = issuer.has(host) ? 0 : this.#budget.issued()
    if (waitMs > 0) await delay(waitMs)
    return issuer.contextOf(host)
  }

  #decide({ host, port, path }: Destination, method: string): NetworkDecision {
    return decideRequest(this.#attachment, { host, port, method, path: withoutQuery(path) })
  }

  #spend(bytes: number): boolean {
    if (this.#bytesLeft === null) return true
    this.#bytesLeft -= bytes
    return this.#bytesLeft >= 0
  }

  #reportTunnel(tunnel: Tunnel, reason: string): void {
    this.#report({ destination: { ...tunnel, isSecure: true, path: '' }, method: 'CONNECT' }, refused(403, reason))
  }

  #report({ destination: { host, path }, method }: Pick<Running, 'destination' | 'method'>, end: ExchangeEnd): void {
    const { tenant, containerId } = this.#attachment
    this.#context.report({ at: this.#context.now(), tenant, containerId, host, method, path: withoutQuery(path), ...end })
  }
}

/** It parses strictly: a message that two parsers could read differently is an error. */
function newServer(onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void): Server {
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, insecureHTTPParser: false, keepAliveTimeout: IDLE_MS }, onRequest)
  server.timeout = IDLE_MS
  server.on('clientError', (_error, socket) => socket.destroy())
  return server
}

const refused = (status: number, reason: string): ExchangeEnd => ({
  ...{ status, reason, decision: 'refused' as const },
  ...{ bytesUp: 0, bytesDown: 0, secret: null },
})

const withoutQuery = (path: string): string => path.replace(/\?.*$/s, '')

/** `host:port` with a normal host; an address is kept, so that the refusal names it. Null for anything else. */
function parseAuthority(authority: string, defaultPort: number | null): Tunnel | null {
  const [, name, digits] = /^(\[[0-9a-f:.]+\]|[^\s:@/[\]]+)(?::(\d{1,5}))?$/i.exec(authority) ?? []
  const port = digits === undefined ? defaultPort : Number(digits)
  if (name === undefined || port === null) return null
  return { host: normalizeHost(name) ?? name.toLowerCase(), port }
}

/** Whether the one Host header names the destination. */
function namesHost(incoming: IncomingMessage, { host, port, isSecure }: Destination): boolean {
  const [value, ...more] = valuesOf(incoming, 'host')
  const named = value === undefined ? null : parseAuthority(value, isSecure ? HTTPS : HTTP)
  return more.length === 0 && named?.host === host && named.port === port
}
