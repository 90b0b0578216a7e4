/** AWS's throttling of an API: a burst, and a rate at which it fills again. */
export class TokenBucket {
  readonly #burst: number
  readonly #perSecond: number
  readonly #now: () => number
  #tokens: number
  #at: number

  constructor(burst: number, perSecond: number, now: () => number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#now = now
    this.#tokens = burst
    this.#at = now()
  }

  /**
   * The bucket of a model that is so many times smaller. The calls of a small model vary more, so its burst shrinks with the root only and covers as many
   * standard deviations.
   */
  static scaled(limit: { readonly burst: number; readonly perSecond: number }, scale: number, now: () => number): TokenBucket {
    return new TokenBucket(Math.max(1, limit.burst / Math.sqrt(scale)), limit.perSecond / scale, now)
  }

  /** False: the call is throttled, and takes no token. */
  take(count = 1): boolean {
    const now = this.#now()
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond)
    this.#at = now
    if (this.#tokens < count) return false
    this.#tokens -= count
    return true
  }
}
