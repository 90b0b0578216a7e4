import type { ByteLease } from '../../http/connection-budget.ts'

/** Space for the answer of a call that runs code, bytes: what a wire shows to a model, with its fields. */
export const RUN_ANSWER_BYTES = 128 * 1024
/** The result of code that has run waits this long for space, milliseconds. Then it is served anyway: a client would run the code again. */
const MAX_SPACE_WAIT_MS = 10_000

/** Results that this process holds in memory to answer one call. */
export interface ResultBudget {
  /** Reserves space for the answer before a call has an effect. Throws ServiceError `too_many_results`. Later work of the call waits for space instead. */
  reserve(bytes: number): void
  /** Runs work that makes the answer of `bytes`. They count until the answer was handed to the network. Throws ServiceError `too_many_results`. */
  hold<T>(bytes: number, work: () => Promise<T>): Promise<T>
  /** The same for bytes that are no part of the answer, or of one frame of a stream: they count until the work has ended. */
  use<T>(bytes: number, work: () => Promise<T>): Promise<T>
}

/** The budget of one call. */
export class AnswerBudget implements ResultBudget {
  readonly #lease: ByteLease
  #reserved = 0
  #held = 0

  constructor(lease: ByteLease) {
    this.#lease = lease
  }

  reserve(bytes: number): void {
    const more = Math.max(this.#held, this.#reserved, bytes) - this.#lease.bytes
    this.#lease.pool.check(this.#lease.owner, more)
    this.#reserved = Math.max(this.#reserved, bytes)
    this.#count()
  }

  async hold<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    await this.#take(bytes)
    return work()
  }

  async use<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    await this.#take(bytes)
    try {
      return await work()
    } finally {
      this.#held -= bytes
      this.#count()
    }
  }

  async #take(bytes: number): Promise<void> {
    const { pool, owner } = this.#lease
    const more = Math.max(0, this.#held + bytes - this.#lease.bytes)
    if (this.#reserved > 0) await pool.whenFree(owner, more, MAX_SPACE_WAIT_MS)
    else pool.check(owner, more)
    this.#held += bytes
    this.#count()
  }

  #count(): void {
    this.#lease.set(Math.max(this.#held, this.#reserved))
  }
}
