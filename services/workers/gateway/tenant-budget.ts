/** A tenant may use the requests of this many seconds at once. */
const BURST_SECONDS = 2

interface Limits {
  readonly connections: number
  readonly requestsPerSecond: number
}

/** Connections and requests of all containers of one tenant. */
export class TenantBudget {
  readonly #now: () => number
  #limits: Limits
  #connections = 0
  #tokens: number
  #at: number

  constructor(limits: Limits, now: () => number) {
    this.#now = now
    this.#limits = limits
    this.#tokens = limits.requestsPerSecond * BURST_SECONDS
    this.#at = now()
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

  /** Counts a request; null, or a sentence that refuses it. */
  request(): string | null {
    const now = this.#now()
    const rate = this.#limits.requestsPerSecond
    this.#tokens = Math.min(rate * BURST_SECONDS, this.#tokens + (Math.max(0, now - this.#at) / 1_000) * rate)
    this.#at = now
    if (this.#tokens < 1) return `This account makes more than ${rate} network requests per second, the maximum. Slow down.`
    this.#tokens -= 1
    return null
  }
}
