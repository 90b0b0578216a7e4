import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { FairQueue } from './fair-queue.ts'
import { RequestFeed } from './request-feed.ts'

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
 * Bounds what connections hold: each has one open request; those whose client reads nothing are closed, and so is the oldest one of an address that opens
 * too many without a key. Clients with a key are not affected by others behind the same address.
 */
class ConnectionGuard {
  readonly #options: GuardOptions
  /** Oldest first. */
  readonly #keyless = new Map<string, Set<RequestFeed>>()
  /** Requests by a signed link, which the API does not read. */
  readonly #links = new WeakMap<RequestFeed, IncomingMessage>()

  constructor(server: Server, options: GuardOptions) {
    this.#options = options
    const turns = new FairQueue()
    const parsers = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket) => {
      const feed = new RequestFeed(socket, turns)
      this.#addKeyless(feed)
      feed.once('close', () => this.#identify(feed))
      for (const parser of parsers) parser.call(server, feed)
    })
    const begin = (request: IncomingMessage, response: ServerResponse): void => feedOf(request).begin(request, response)
    server.prependListener('request', begin)
    server.prependListener('checkContinue', begin)
    // Node restarts this time with each byte that either side moves, also within one large write.
    server.setTimeout(options.stallMs, (feed) => this.#timeOut(feed as unknown as RequestFeed))
  }

  /** A request of the connection had a valid key. */
  identify(request: IncomingMessage): void {
    this.#identify(feedOf(request))
  }

  /** The connection of the request is upgraded to a WebSocket of this server, or to bytes that this server does not parse. */
  upgrade(request: IncomingMessage, to: 'frames' | 'bytes'): void {
    feedOf(request).upgrade(to)
  }

  /** A signed link is the key of its request: the connection counts again after the answer. */
  identifyUntilAnswered(request: IncomingMessage, response: ServerResponse): void {
    const feed = feedOf(request)
    this.#identify(feed)
    this.#links.set(feed, request)
    response.once('close', () => {
      this.#links.delete(feed)
      if (!feed.destroyed) this.#addKeyless(feed)
    })
  }

  #identify(feed: RequestFeed): void {
    const address = feed.remoteAddress ?? ''
    const feeds = this.#keyless.get(address)
    if (feeds?.delete(feed) === true && feeds.size === 0) this.#keyless.delete(address)
  }

  #addKeyless(feed: RequestFeed): void {
    const { maxKeyless } = this.#options
    if (maxKeyless === null) return
    const address = feed.remoteAddress ?? ''
    const feeds = this.#keyless.get(address) ?? new Set()
    this.#keyless.set(address, feeds.add(feed))
    const [oldest] = feeds
    if (feeds.size > maxKeyless && oldest !== undefined) this.#evict(oldest)
  }

  #evict(feed: RequestFeed): void {
    this.#identify(feed)
    if (feed.isAnswering) feed.destroy()
    else feed.end(TOO_MANY_ANSWER, () => feed.destroy())
  }

  #timeOut(feed: RequestFeed): void {
    const isUnread = feed.writableLength > 0
    const link = this.#links.get(feed)
    const isUnsent = link !== undefined && !link.complete && link.readableLength === 0
    // A new connection has Node's time for the headers of its first request; a request without a reader's fault waits for this server.
    if (isUnread || isUnsent || feed.isIdle) feed.destroy()
  }
}

/** The server made the connection of the request from it. */
const feedOf = ({ socket }: IncomingMessage): RequestFeed => socket as Socket & RequestFeed

/** Watches every connection of a server from now on. */
export const guardConnections = (server: Server, options: GuardOptions): ConnectionGuard => new ConnectionGuard(server, options)
