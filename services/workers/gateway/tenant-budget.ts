/** A tenant may use the requests of this many seconds at once. */
const BURST_SECONDS = 2

interface Limits {
  readonly connections: number
  readonly requestsPerSecond: number
}

/** New certificates of a tenant per second, for hosts that the gateway has not served before. */
const CERTIFICATES_PER_SECOND = 10
/** A connection that breaks the protocol counts as so many, so that making others is no way out. */
const PENALTY = 50

/** Connections and requests of all containers of one tenant. */
export class TenantBudget {
  #limits: Limits
  #connections = 0
  #running = 0
  readonly #requests: Rate
  readonly #openings: Rate
  readonly #certificates: Rate

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits
    this.#requests = new Rate(limits.requestsPerSecond, now)
    this.#openings = new Rate(limits.requestsPerSecond, now)
    this.#certificates = new Rate(CERTIFICATES_PER_SECOND, now)
  }

  set limits(limits: Limits) {
    this.#limits = limits
  }

  get connections(): number {
    return this.#connections
  }

  /** Counts a connection; null, or a sentence that refuses it. The caller closes what it opened. */
  open(): string | null {
    if (this.#connections >= this.#limits.connections)
      return `This account has ${this.#limits.connections} network connections open, the maximum. Close some, or wait.`
    this.#connections += 1
    return null
  }

  close(): void {
    this.#connections -= 1
  }

  /** Counts a connection that the gateway has accepted. Milliseconds until it may accept the next one: a connection costs a handshake, also without a request. */
  accepted(): number {
    return this.#openings.take(1, this.#limits.requestsPerSecond)
  }

  /** Counts a new certificate. Milliseconds until it may be made. */
  issued(): number {
    return this.#certificates.take(1, CERTIFICATES_PER_SECOND)
  }

  /** A connection did what no client does. */
  penalize(): void {
    this.#openings.take(PENALTY, this.#limits.requestsPerSecond)
  }

  /** Counts a request; null, or a sentence that refuses it. */
  request(): string | null {
    const rate = this.#limits.requestsPerSecond
    if (this.#requests.has(rate)) {
      this.#requests.take(1, rate)
      return null
    }
    return `This account makes more than ${rate} network requests per second, the maximum. Slow down.`
  }

  /** Counts a request that goes to its host; null, or a sentence that refuses it. The caller ends what it began. One connection can carry several. */
  begin(): string | null {
    if (this.#running >= this.#limits.connections)
      return `This account has ${this.#limits.connections} network requests running, the maximum. Wait until some have ended.`
    this.#running += 1
    return null
  }

  end(): void {
    this.#running -= 1
  }
}

/** Tokens that come back at a rate. */
class Rate {
  readonly #now: () => number
  #tokens: number
  #at: number

  constructor(perSecond: number, now: () => number) {
    this.#now = now
    this.#tokens = perSecond * BURST_SECONDS
    this.#at = now()
  }

  has(perSecond: number): boolean {
    this.#refill(perSecond)
    return this.#tokens >= 1
  }

  /** Milliseconds until there is a token again. */
  take(count: number, perSecond: number): number {
    this.#refill(perSecond)
    this.#tokens -= count
    return this.#tokens >= 0 ? 0 : Math.ceil((-this.#tokens / perSecond) * 1_000)
  }

  #refill(perSecond: number): void {
    const now = this.#now()
    this.#tokens = Math.min(perSecond * BURST_SECONDS, this.#tokens + (Math.max(0, now - this.#at) / 1_000) * perSecond)
    this.#at = now
  }
}
