import type { WebhookMessage } from '../../model/messages.ts'
import { admitsShare } from '../../model/tenants/share.ts'
import { currentTraceparent, inTrace, parseTraceparent } from '../../model/trace.ts'

/** Deliveries that this process sends at once, those of one tenant, and how many of a tenant wait here. */
const CAPACITY = 64
const MAX_PER_TENANT = 2
const MAX_WAITING = 1_000

interface Waiting {
  readonly message: WebhookMessage
  readonly endpoint: string
  readonly traceparent: string | null
}

/**
 * The deliveries of a process, beside the queue that brings their messages: an endpoint that does not answer takes no worker of turns and delays no other
 * tenant. The tenants take turns; an endpoint gets one delivery at a time. A message that does not fit is dropped: the reconciler sends it again.
 */
export class DeliveryLanes {
  readonly #deliver: (message: WebhookMessage) => Promise<void>
  readonly #onError: (error: unknown) => void
  readonly #waiting = new Map<string, Waiting[]>()
  /** Deliveries that wait or run; a second message about one changes nothing. */
  readonly #known = new Set<string>()
  readonly #endpoints = new Set<string>()
  readonly #byTenant = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()
  #isStopped = false

  constructor({ deliver, onError }: { deliver: (message: WebhookMessage) => Promise<void>; onError: (error: unknown) => void }) {
    this.#deliver = deliver
    this.#onError = onError
  }

  add(message: WebhookMessage): void {
    const { tenant, deliveryId, endpointId } = message
    const waiting = this.#waiting.get(tenant) ?? []
    if (this.#isStopped || this.#known.has(deliveryId) || waiting.length >= MAX_WAITING) return
    this.#known.add(deliveryId)
    waiting.push({ message, endpoint: endpointId, traceparent: currentTraceparent() })
    this.#waiting.set(tenant, waiting)
    this.#start()
  }

  /** Starts no further delivery; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    await Promise.all(this.#running)
  }

  #start(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const work = this.#run(next).finally(() => {
        this.#running.delete(work)
        this.#start()
      })
      this.#running.add(work)
    }
  }

  /** The next delivery whose tenant and endpoint have a free place. Its tenant moves behind all others, which a Map keeps in the order of insertion. */
  #take(): Waiting | undefined {
    for (const [tenant, waiting] of this.#waiting) {
      if (!this.#admits(tenant)) continue
      const index = waiting.findIndex(({ endpoint }) => !this.#endpoints.has(endpoint))
      if (index === -1) continue
      const [next] = waiting.splice(index, 1)
      this.#waiting.delete(tenant)
      if (waiting.length > 0) this.#waiting.set(tenant, waiting)
      return next
    }
    return undefined
  }

  #admits(tenant: string): boolean {
    const heldByTenant = this.#byTenant.get(tenant) ?? 0
    return heldByTenant < MAX_PER_TENANT && admitsShare({ held: this.#running.size, heldByTenant, capacity: CAPACITY })
  }

  /** Never rejects. */
  async #run({ message, endpoint, traceparent }: Waiting): Promise<void> {
    const { tenant, deliveryId } = message
    this.#endpoints.add(endpoint)
    this.#count(tenant, 1)
    try {
      await inTrace(parseTraceparent(traceparent), () => this.#deliver(message))
    } catch (error) {
      this.#onError(error)
    } finally {
      this.#endpoints.delete(endpoint)
      this.#count(tenant, -1)
      this.#known.delete(deliveryId)
    }
  }

  #count(tenant: string, change: 1 | -1): void {
    const count = (this.#byTenant.get(tenant) ?? 0) + change
    if (count === 0) this.#byTenant.delete(tenant)
    else this.#byTenant.set(tenant, count)
  }
}
