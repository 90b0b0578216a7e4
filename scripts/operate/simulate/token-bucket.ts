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
