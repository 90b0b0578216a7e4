/** An endpoint that did not answer so many times in a row is silent. */
const TIMEOUTS = 3
/** A silent endpoint gets one attempt in this time, milliseconds. */
export const PROBE_EVERY_MS = 60_000
const MAX_ENDPOINTS = 10_000

interface Endpoint {
  readonly timeouts: number
  /** Epoch ms. */
  readonly probeAt: number
}

/** The endpoints that did not answer this process. */
export class SilentEndpoints {
  readonly #endpoints = new Map<string, Endpoint>()

  /** Whether an attempt may be sent. For a silent endpoint it is the probe of this interval, and the call counts it. */
  admits(id: string, now: number): boolean {
    const seen = this.#endpoints.get(id)
    if (seen === undefined || seen.timeouts < TIMEOUTS) return true
    if (now < seen.probeAt) return false
    this.#set(id, { ...seen, probeAt: now + PROBE_EVERY_MS })
    return true
  }

  record(id: string, { isTimeout, now }: { readonly isTimeout: boolean; readonly now: number }): void {
    if (isTimeout) this.#set(id, { timeouts: (this.#endpoints.get(id)?.timeouts ?? 0) + 1, probeAt: now + PROBE_EVERY_MS })
    else this.#endpoints.delete(id)
  }

  #set(id: string, endpoint: Endpoint): void {
    this.#endpoints.delete(id)
    this.#endpoints.set(id, endpoint)
    for (const oldest of this.#endpoints.keys()) {
      if (this.#endpoints.size <= MAX_ENDPOINTS) return
      this.#endpoints.delete(oldest)
    }
  }
}
