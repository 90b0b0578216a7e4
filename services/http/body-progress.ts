import { ServiceError } from '../model/errors.ts'

/** Slowest rate of a body, bytes per second. */
const MIN_BYTES_PER_SECOND = 1024

/**
 * Refuses a body that does not arrive. Only the time that the server waits for the client counts: in any `stallMs` of it, at least 1 KiB per second
 * has to come.
 */
export class BodyProgress {
  readonly #stallMs: number
  readonly #minBytes: number
  #waitedMs = 0
  #bytes = 0

  constructor(stallMs: number) {
    this.#stallMs = stallMs
    this.#minBytes = (MIN_BYTES_PER_SECOND * stallMs) / 1000
  }

  /** The next chunk. Throws ServiceError `request_timeout`. */
  async watch<Next extends IteratorResult<Uint8Array, unknown>>(next: Promise<Next>): Promise<Next> {
    const startedAt = performance.now()
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#refusal()), Math.max(1, this.#stallMs - this.#waitedMs))
    })
    try {
      const result = await Promise.race([next, tooLate])
      this.#count(result, performance.now() - startedAt)
      return result
    } finally {
      clearTimeout(timer)
      // A chunk that arrives after the refusal has no reader.
      next.catch(() => undefined)
    }
  }

  #count(result: IteratorResult<Uint8Array, unknown>, waitedMs: number): void {
    this.#waitedMs += waitedMs
    this.#bytes += result.done === true ? 0 : result.value.byteLength
    if (this.#bytes < this.#minBytes) return
    this.#waitedMs = 0
    this.#bytes = 0
  }

  #refusal(): ServiceError {
    return new ServiceError(
      'request_timeout',
      `The request body arrived slower than ${MIN_BYTES_PER_SECOND} bytes per second for ${this.#stallMs / 1000} s. Send the request again over a faster connection.`,
    )
  }
}
