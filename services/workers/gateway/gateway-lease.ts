import type { AttachmentStore } from '../../ports/attachment-store.ts'
import type { Clock } from '../../ports/clock.ts'

/** Long enough for a table that answers late, short enough that a dead process is replaced soon, milliseconds. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000
/** A process stops serving this long before its lease ends, so that clocks may differ. */
const MARGIN_MS = 3_000

interface Parts {
  readonly attachments: Pick<AttachmentStore, 'lead'>
  readonly clock: Clock
  readonly holder: string
}

/**
 * One process of a deployment is the gateway. A process that cannot renew the lease cannot learn that a policy changed either, so it has to stop serving:
 * `isOver` says so, without a call that could hang.
 */
export class GatewayLease {
  readonly #parts: Parts
  #sealingKey: string | null = null
  #until = 0
  #renewAt = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** False while another process has it. */
  async acquire(): Promise<boolean> {
    const { attachments, clock, holder } = this.#parts
    const now = clock.now()
    if (!(await attachments.lead({ holder, expiresAt: now + LEASE_MS, sealingKey: this.#sealingKey }, now))) return false
    this.#until = now + LEASE_MS
    this.#renewAt = now + RENEW_MS
    return true
  }

  /** From now on the row has the key with which others seal secrets. */
  async publish(sealingKey: string): Promise<void> {
    this.#sealingKey = sealingKey
    this.#renewAt = 0
    await this.renew()
  }

  /** Throws when another process has the lease. */
  async renew(): Promise<void> {
    if (this.#parts.clock.now() < this.#renewAt) return
    if (!(await this.acquire())) throw new Error('Another process is the network gateway.')
  }

  get isOver(): boolean {
    return this.#parts.clock.now() > this.#until - MARGIN_MS
  }

  /** The next process need not wait. */
  async release(): Promise<void> {
    const { attachments, clock, holder } = this.#parts
    await attachments.lead({ holder, expiresAt: 0, sealingKey: this.#sealingKey }, clock.now())
  }
}
