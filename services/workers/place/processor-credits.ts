/** Milliseconds of processor time that a sandbox may use at once, and per second. */
const BURST_MS = 200
const REFILL_MS_PER_SECOND = 200

interface Account {
  readonly usedMs: number
  readonly atMs: number
  readonly credits: number
  readonly isSpent: boolean
}

/**
 * Processor time that a sandbox saves while it computes little and spends while it computes. It is spent until the burst has been saved again, so that short
 * calculations do not change it all the time.
 */
export class ProcessorCredits {
  #accounts = new Map<string, Account>()

  /** `usedMs`: processor time of the sandbox since it started; null when the host does not show it. */
  count(sandbox: string, usedMs: number | null, nowMs: number): void {
    if (usedMs === null) return
    const last = this.#accounts.get(sandbox) ?? { usedMs, atMs: nowMs, credits: BURST_MS, isSpent: false }
    const saved = last.credits + (REFILL_MS_PER_SECOND * (nowMs - last.atMs)) / 1_000
    const credits = Math.min(BURST_MS, Math.max(0, saved - (usedMs - last.usedMs)))
    this.#accounts.set(sandbox, { usedMs, atMs: nowMs, credits, isSpent: credits === 0 || (last.isSpent && credits < BURST_MS) })
  }

  isSpent(sandbox: string): boolean {
    return this.#accounts.get(sandbox)?.isSpent === true
  }

  /** Forgets all other sandboxes. */
  keep(sandboxes: ReadonlySet<string>): void {
    this.#accounts = new Map([...this.#accounts].filter(([sandbox]) => sandboxes.has(sandbox)))
  }
}
