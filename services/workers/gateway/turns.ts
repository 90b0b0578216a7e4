/** Work of several tenants in one process: one piece of each tenant, then everything else that the process has to do, then the next pieces. */
export class Turns {
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false

  take(tenant: string, work: () => void): void {
    const own = this.#waiting.get(tenant) ?? []
    own.push(work)
    this.#waiting.set(tenant, own)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    // Work may add work, which belongs to the next round.
    for (const [tenant, own] of [...this.#waiting]) {
      const work = own.shift()
      if (own.length === 0) this.#waiting.delete(tenant)
      work?.()
    }
    this.#isScheduled = this.#waiting.size > 0
    if (this.#isScheduled) setImmediate(this.#next)
  }
}
