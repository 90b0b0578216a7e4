import type { ResultBudget } from '../operations/executions/result-budget.ts'
import type { ByteLease } from './connection-budget.ts'

/** The result of code that has run waits this long for space, milliseconds. Then it is served anyway: a client would run the code again. */
const MAX_RUN_WAIT_MS = 10_000

/** Every other answer waits this long for space, milliseconds, then it is refused. A client that reads frees a whole share in this time. */
const MAX_READ_WAIT_MS = 2_000

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
    if (this.#reserved > 0) await pool.whenFree(owner, more, MAX_RUN_WAIT_MS)
    else {
      await pool.whenFree(owner, more, MAX_READ_WAIT_MS)
      pool.check(owner, more)
    }
    this.#held += bytes
    this.#count()
  }

  #count(): void {
    this.#lease.set(Math.max(this.#held, this.#reserved))
  }
}
