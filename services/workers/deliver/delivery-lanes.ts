import type { WebhookMessage } from '../../model/messages.ts'
import { admitsShare } from '../../model/tenants/share.ts'
import { currentTraceparent, inTrace, parseTraceparent } from '../../model/trace.ts'
import { DELIVERIES_AT_ONCE } from './delivery-step.ts'

/** Deliveries that this process sends at once, and how many of a tenant wait here. */
const CAPACITY = 64
const MAX_WAITING = 1_000

interface DueDelivery {
  readonly tenant: string
  readonly id: string
  readonly endpointId: string
}

interface Waiting extends DueDelivery {
  readonly traceparent: string | null
}

/** One attempt. It calls `onSent` when the request to the endpoint has ended, before it stores what came of it. */
type Deliver = (delivery: DueDelivery, onSent: () => void) => Promise<void>

/**
 * The deliveries of a process, beside the queue that brings their messages: an endpoint that does not answer takes no worker of turns and delays no other
 * tenant. The tenants take turns; an endpoint gets one request at a time. A delivery that does not fit is dropped: the reconciler sends it again.
 */
export class DeliveryLanes {
  readonly #deliver: Deliver
  readonly #onError: (error: unknown) => void
  readonly #waiting = new Map<string, Waiting[]>()
  /** Deliveries that wait or run; a second message about one changes nothing. */
  readonly #known = new Set<string>()
  readonly #endpoints = new Set<string>()
  readonly #byTenant = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()
  #isStopped = false

  constructor({ deliver, onError }: { deliver: Deliver; onError: (error: unknown) => void }) {
    this.#deliver = deliver
    this.#onError = onError
  }

  add({ tenant, deliveries }: WebhookMessage): void {
    for (const { id, endpointId } of deliveries) this.#wait({ tenant, id, endpointId })
    this.#start()
  }

  /** Starts no further delivery; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    await Promise.all(this.#running)
  }

  #wait(delivery: DueDelivery): void {
    const { tenant, id } = delivery
    const waiting = this.#waiting.get(tenant) ?? []
    if (this.#isStopped || this.#known.has(id) || waiting.length >= MAX_WAITING) return
    this.#known.add(id)
    waiting.push({ ...delivery, traceparent: currentTraceparent() })
    this.#waiting.set(tenant, waiting)
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
      const index = waiting.findIndex(({ endpointId }) => !this.#endpoints.has(endpointId))
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
    return heldByTenant < DELIVERIES_AT_ONCE && admitsShare({ held: this.#running.size, heldByTenant, capacity: CAPACITY })
  }

  /** Never rejects. */
  async #run({ traceparent, ...delivery }: Waiting): Promise<void> {
    const { tenant, id, endpointId } = delivery
    let isFree = false
    const freeEndpoint = (): void => {
      isFree = true
      this.#endpoints.delete(endpointId)
      this.#start()
    }
    this.#endpoints.add(endpointId)
    this.#count(tenant, 1)
    try {
      await inTrace(parseTraceparent(traceparent), () => this.#deliver(delivery, freeEndpoint), tenant)
    } catch (error) {
      this.#onError(error)
    } finally {
      if (!isFree) this.#endpoints.delete(endpointId)
      this.#count(tenant, -1)
      this.#known.delete(id)
    }
  }

  #count(tenant: string, change: 1 | -1): void {
    const count = (this.#byTenant.get(tenant) ?? 0) + change
    if (count === 0) this.#byTenant.delete(tenant)
    else this.#byTenant.set(tenant, count)
  }
}
