import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface GuardOptions {
  /** A connection whose client accepts no byte for this time is closed, milliseconds. */
  readonly stallMs: number
  /** Connections of one address on which no request had a valid key; null behind a load balancer, whose address all clients share. */
  readonly maxKeyless: number | null
}

const TOO_MANY = JSON.stringify({
  error: {
    message:
      'This address opened more connections than it may before one of them sent a valid key. Send the key with the first request of a connection.',
    type: 'rate_limit_error',
    code: 'too_many_connections',
    param: null,
  },
})
const TOO_MANY_ANSWER = `HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(TOO_MANY)}\r\n\r\n${TOO_MANY}`

/**
 * Bounds what connections hold that do not come to an end: it closes those whose client reads nothing, and the oldest one of an address that opens too
 * many without a key. Clients with a key are not affected by others behind the same address.
 */
class ConnectionGuard {
  readonly #options: GuardOptions
  /** Oldest first. */
  readonly #keyless = new Map<string, Set<Socket>>()
  /** Requests of each connection that have no answer yet; a connection without an entry has had none. */
  readonly #open = new WeakMap<Socket, Set<ServerResponse>>()
  readonly #upgraded = new WeakSet<Socket>()
  /** Requests by a signed link, which the API does not read. */
  readonly #links = new WeakMap<Socket, IncomingMessage>()

  constructor(server: Server, options: GuardOptions) {
    this.#options = options
    server.on('connection', (socket) => {
      this.#addKeyless(socket)
      socket.once('close', () => this.identify(socket))
    })
    server.prependListener('request', (request, response) => this.#track(request, response))
    server.prependListener('checkContinue', (request, response) => this.#track(request, response))
    server.prependListener('upgrade', ({ socket }: IncomingMessage) => this.#upgraded.add(socket))
    // Node restarts this time with each byte that either side moves, also within one large write.
    server.setTimeout(options.stallMs, (socket: Socket) => this.#timeOut(socket))
  }

  /** A request of the connection had a valid key. */
  identify(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const sockets = this.#keyless.get(address)
    if (sockets?.delete(socket) === true && sockets.size === 0) this.#keyless.delete(address)
  }

  /** A signed link is the key of its request: the connection counts again after the answer. */
  identifyUntilAnswered(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    this.identify(socket)
    this.#links.set(socket, request)
    response.once('close', () => {
      this.#links.delete(socket)
      if (!socket.destroyed) this.#addKeyless(socket)
    })
  }

  #addKeyless(socket: Socket): void {
    const { maxKeyless } = this.#options
    if (maxKeyless === null) return
    const address = socket.remoteAddress ?? ''
    const sockets = this.#keyless.get(address) ?? new Set()
    this.#keyless.set(address, sockets.add(socket))
    const [oldest] = sockets
    if (sockets.size > maxKeyless && oldest !== undefined) this.#evict(oldest)
  }

  #evict(socket: Socket): void {
    this.identify(socket)
    const hasAnswer = [...(this.#open.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (hasAnswer) socket.destroy()
    else socket.end(TOO_MANY_ANSWER, () => socket.destroy())
  }

  #track({ socket }: IncomingMessage, response: ServerResponse): void {
    const open = this.#open.get(socket) ?? new Set()
    this.#open.set(socket, open.add(response))
    response.once('close', () => open.delete(response))
  }

  #timeOut(socket: Socket): void {
    const isUnread = socket.writableLength > 0
    const link = this.#links.get(socket)
    const isUnsent = link !== undefined && !link.complete && link.readableLength === 0
    // A new connection has Node's time for the headers of its first request; a request without a reader's fault waits for this server.
    const isIdle = this.#open.get(socket)?.size === 0 && !this.#upgraded.has(socket)
    if (isUnread || isUnsent || isIdle) socket.destroy()
  }
}

/** Watches every connection of a server from now on. */
export const guardConnections = (server: Server, options: GuardOptions): ConnectionGuard => new ConnectionGuard(server, options)
