import { admitsShare } from '../../../model/tenants/share.ts'
import { currentOwner } from '../../../model/trace.ts'
import { FairQueue } from './fair-queue.ts'
import { HeldSlots } from './held-slots.ts'

/** Calls that an owner may begin at once, as many as a request makes side by side. */
const BURST = 8
/** One more may begin after this time, milliseconds, or with the next pass of the event loop, whichever is sooner. */
const EVERY_MS = 10

/**
 * The calls of a process to a service. They are a pool with shares, because the service may serve them in the order of arrival. What the steps of an owner do
 * between their calls is work of this process: beside others, an owner whose calls follow each other without a pause begins one in each pass of the event
 * loop, so its work delays another owner by one such part and not by as many as it has in progress.
 */
export class FairCalls {
  readonly #capacity: number
  readonly #waiting = new FairQueue<() => void>()
  readonly #held = new HeldSlots()
  /** Calls that an owner has begun, less those that its pace allows since then. */
  readonly #recent = new Map<string, number>()
  #pacedAt = 0

  /** `capacity`: calls at the same time. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Makes the call when the owner of the current work may begin one. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    const owner = currentOwner()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    await new Promise<void>((begin) => {
      this.#waiting.add(owner, () => {
        this.#count(owner)
        void this.#held.during(owner, ended).then(() => this.#begin())
        begin()
      })
      this.#begin()
    })
    try {
      return await call()
    } finally {
      end()
    }
  }

  #begin(): void {
    for (let begin = this.#next(); begin !== undefined; begin = this.#next()) begin()
  }

  #next(): (() => void) | undefined {
    return this.#waiting.take(
      (owner) =>
        ((this.#recent.get(owner) ?? 0) < BURST || this.#isAlone(owner)) &&
        admitsShare({ held: this.#held.all, heldByTenant: this.#held.of(owner), capacity: this.#capacity }),
    )
  }

  /** No other owner has calls in progress or has begun one lately. */
  #isAlone(owner: string): boolean {
    return this.#held.all === this.#held.of(owner) && this.#recent.size === (this.#recent.has(owner) ? 1 : 0)
  }

  #count(owner: string): void {
    if (this.#recent.size === 0) this.#pace()
    this.#recent.set(owner, Math.min(BURST, (this.#recent.get(owner) ?? 0) + 1))
  }

  /** Pass by pass, until no owner has begun a call lately. */
  #pace(): void {
    this.#pacedAt = performance.now()
    setImmediate(() => {
      const allowed = Math.max(1, Math.floor((performance.now() - this.#pacedAt) / EVERY_MS))
      for (const [owner, count] of this.#recent) {
        if (count > allowed) this.#recent.set(owner, count - allowed)
        else this.#recent.delete(owner)
      }
      if (this.#recent.size > 0) this.#pace()
      this.#begin()
    })
  }
}
