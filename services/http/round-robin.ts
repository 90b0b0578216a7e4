import type { EventEmitter } from 'node:events'

/** The answer or the connection of the one who waits. */
type Waiter = Pick<EventEmitter, 'once' | 'off'> & { readonly destroyed: boolean }

/**
 * Lets requests begin one by one, the owners in turn, each after the input and output of the process has been served. A burst of one owner then delays a
 * request of another one by the work of few requests instead of the whole burst.
 */
export class RoundRobin {
  /** Owners that wait, the next one first. */
  readonly #waiting = new Map<string, Set<() => void>>()
  #isBegun = false

  /** Resolves when a request of this owner may begin. A client that leaves takes no turn: `enter` resolves at once, and `waiter` is destroyed. */
  async enter(owner: string, waiter?: Waiter): Promise<void> {
    if (!this.#isBegun) return this.#begin()
    if (waiter?.destroyed === true) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const own = this.#waiting.get(owner) ?? new Set()
    this.#waiting.set(owner, own.add(resolve))
    const leave = (): void => {
      own.delete(resolve)
      if (own.size === 0 && this.#waiting.get(owner) === own) this.#waiting.delete(owner)
      resolve()
    }
    waiter?.once('close', leave)
    await promise
    waiter?.off('close', leave)
  }

  /** One request begins. The next one follows in the next pass of the event loop. */
  #begin(): void {
    this.#isBegun = true
    setImmediate(() => {
      this.#isBegun = false
      const [next] = this.#waiting
      if (next === undefined) return
      const [owner, own] = next
      const [resolve] = own
      if (resolve !== undefined) own.delete(resolve)
      this.#waiting.delete(owner)
      if (own.size > 0) this.#waiting.set(owner, own)
      this.#begin()
      resolve?.()
    })
  }
}
