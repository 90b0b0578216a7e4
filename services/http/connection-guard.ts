import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../model/errors.ts'
import { RoundRobin } from './round-robin.ts'
import { RequestFeed } from './request-feed.ts'

export interface GuardOptions {
  /** A connection whose client accepts no byte for this time is closed, and so is one on which a request still arrives this time after its answer, milliseconds. */
  readonly stallMs: number
  /** Connections of one address on which no request had a valid key; null behind a load balancer, whose address all clients share. */
  readonly maxKeyless: number | null
  /** Connections whose last request with a valid key was one tenant's. */
  readonly maxOfTenant: number
  /** Requests of one tenant whose client has left and whose work is in progress. */
  readonly maxAbandoned: number
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
 * Bounds what connections hold: each has one open request, and those whose client reads nothing are closed. An address that opens too many without a key
 * loses its oldest one, and a tenant with too many its oldest one that is not in use. Clients with a key are not affected by others behind the same address.
 */
class ConnectionGuard {
  readonly #options: GuardOptions
  /** By tenant, or address of those without a key; in each, the first one had its owner for longest. */
  readonly #feeds = new Map<string, Set<RequestFeed>>()
  readonly #owners = new WeakMap<RequestFeed, string>()
  /** Requests of each tenant whose client has left and whose work is in progress. */
  readonly #abandoned = new Map<string, number>()
  /** Requests by a signed link, which the API does not read. */
  readonly #links = new WeakMap<RequestFeed, IncomingMessage>()

  constructor(server: Server, options: GuardOptions) {
    this.#options = options
    const turns = new RoundRobin()
    const parsers = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket) => {
      const feed = new RequestFeed(socket, { turns, lingerMs: options.stallMs })
      this.#addKeyless(feed)
      feed.once('close', () => this.#release(feed))
      for (const parser of parsers) parser.call(server, feed)
    })
    const begin = (request: IncomingMessage, response: ServerResponse): void => feedOf(request).begin(request, response)
    server.prependListener('request', begin)
    server.prependListener('checkContinue', begin)
    // Node restarts this time with each byte that either side moves, also within one large write.
    server.setTimeout(options.stallMs, (feed) => this.#timeOut(feed as unknown as RequestFeed))
  }

  /** A request of the connection had a valid key of this tenant. Throws ServiceError `too_many_connections` when all connections of the tenant are in use. */
  identify(request: IncomingMessage, tenant: string): void {
    const feed = feedOf(request)
    // A client may leave while its key is looked up; its connection is not closed a second time.
    if (feed.destroyed || this.#owners.get(feed) === tenant) return
    const feeds = this.#feeds.get(tenant)
    const { maxOfTenant } = this.#options
    if (feeds !== undefined && feeds.size >= maxOfTenant) {
      const unused = [...feeds].find(({ isIdle }) => isIdle)
      if (unused === undefined) throw tooManyOf(maxOfTenant)
      this.#release(unused)
      unused.destroy()
    }
    this.#giveTo(feed, tenant)
  }

  /**
   * The same. If the client leaves, the work for its request counts until the returned function is called: a client that sends requests and waits for none of
   * them holds no connections. Also throws when too much of such work is in progress.
   */
  hold(request: IncomingMessage, tenant: string): () => void {
    const { maxAbandoned } = this.#options
    if (this.#abandonedOf(tenant) >= maxAbandoned) throw tooManyAbandoned(maxAbandoned)
    this.identify(request, tenant)
    const feed = feedOf(request)
    let hasLeft = false
    const leave = (): void => {
      hasLeft = true
      this.#abandoned.set(tenant, this.#abandonedOf(tenant) + 1)
    }
    feed.once('close', leave)
    return () => {
      feed.off('close', leave)
      if (hasLeft) this.#endAbandoned(tenant)
    }
  }

  /** The connection of the request is upgraded to a WebSocket of this server, or to bytes that this server does not parse. */
  upgrade(request: IncomingMessage, to: 'frames' | 'bytes'): void {
    feedOf(request).upgrade(to)
  }

  /** A signed link is the key of its request: the connection counts again after the answer. */
  identifyUntilAnswered(request: IncomingMessage, response: ServerResponse): void {
    const feed = feedOf(request)
    this.#release(feed)
    this.#links.set(feed, request)
    response.once('close', () => {
      this.#links.delete(feed)
      if (!feed.destroyed) this.#addKeyless(feed)
    })
  }

  #abandonedOf(tenant: string): number {
    return this.#abandoned.get(tenant) ?? 0
  }

  #endAbandoned(tenant: string): void {
    const others = this.#abandonedOf(tenant) - 1
    if (others > 0) this.#abandoned.set(tenant, others)
    else this.#abandoned.delete(tenant)
  }

  /** Returns the connections of the owner. */
  #giveTo(feed: RequestFeed, owner: string): ReadonlySet<RequestFeed> {
    this.#release(feed)
    const feeds = (this.#feeds.get(owner) ?? new Set()).add(feed)
    this.#feeds.set(owner, feeds)
    this.#owners.set(feed, owner)
    return feeds
  }

  #release(feed: RequestFeed): void {
    const owner = this.#owners.get(feed)
    if (owner === undefined) return
    this.#owners.delete(feed)
    const feeds = this.#feeds.get(owner)
    feeds?.delete(feed)
    if (feeds?.size === 0) this.#feeds.delete(owner)
  }

  #addKeyless(feed: RequestFeed): void {
    const { maxKeyless } = this.#options
    if (maxKeyless === null) return
    const feeds = this.#giveTo(feed, `address ${feed.remoteAddress ?? ''}`)
    const [oldest] = feeds
    if (feeds.size > maxKeyless && oldest !== undefined) this.#evict(oldest)
  }

  #evict(feed: RequestFeed): void {
    this.#release(feed)
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

const tooManyOf = (most: number): ServiceError =>
  new ServiceError(
    'too_many_connections',
    `This account has ${most} connections on which requests run, the maximum. Send fewer requests at the same time.`,
    { limit: { name: 'max_tenant_connections', value: most, retryAfterSeconds: 1 } },
  )

/** Watches every connection of a server from now on. */
export const guardConnections = (server: Server, options: GuardOptions): ConnectionGuard => new ConnectionGuard(server, options)

const tooManyAbandoned = (most: number): ServiceError =>
  new ServiceError(
    'too_many_connections',
    `The clients of ${most} requests of this account, the maximum, have closed their connections before the work for these requests ended. Wait for answers, and send fewer requests at the same time.`,
    { limit: { name: 'max_abandoned_requests', value: most, retryAfterSeconds: 1 } },
  )
