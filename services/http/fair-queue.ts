/**
 * Lets requests begin one by one, the owners in turn, each after the input and output of the process has been served. A burst of one owner then delays a
 * request of another one by the work of few requests instead of the whole burst.
 */
export class FairQueue {
  /** Owners that wait, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isBegun = false

  /** Resolves when a request of this owner may begin. */
  async enter(owner: string): Promise<void> {
    if (!this.#isBegun) return this.#begin()
    const { promise, resolve } = Promise.withResolvers<void>()
    const own = this.#waiting.get(owner)
    if (own === undefined) this.#waiting.set(owner, [resolve])
    else own.push(resolve)
    await promise
  }

  /** One request begins. The next one follows in the next pass of the event loop. */
  #begin(): void {
    this.#isBegun = true
    setImmediate(() => {
      this.#isBegun = false
      const [next] = this.#waiting
      if (next === undefined) return
      const [owner, own] = next
      const resolve = own.shift()
      this.#waiting.delete(owner)
      if (own.length > 0) this.#waiting.set(owner, own)
      this.#begin()
      resolve?.()
    })
  }
}
