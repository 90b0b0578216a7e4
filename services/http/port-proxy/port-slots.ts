import { admitsShare } from '../../model/tenants/share.ts'
import { PortError } from './port-error.ts'

const tooMany = (what: string): PortError =>
  new PortError(429, 'too_many_connections', `${what} Close some, or try again in a moment.`).after(1)

/** Requests and WebSockets that are open to programs of this process, by tenant. */
export class PortSlots {
  readonly #capacity: number
  readonly #byTenant = new Map<string, number>()
  #open = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Returns a function that frees the place; further calls of it have no effect. `max` is the tenant's limit. Throws PortError `too_many_connections`. */
  take(tenant: string, max: number): () => void {
    const own = this.#byTenant.get(tenant) ?? 0
    if (own >= max) throw tooMany(`The ports of this account have ${max} open connections, the maximum (limit port_connections).`)
    if (!admitsShare({ held: this.#open, heldByTenant: own, capacity: this.#capacity }))
      throw tooMany(`The ports of this server have ${this.#open} open connections, and this account has ${own} of them, its share.`)
    this.#add(tenant, 1)
    let isTaken = true
    return () => {
      if (isTaken) this.#add(tenant, -1)
      isTaken = false
    }
  }

  #add(tenant: string, change: 1 | -1): void {
    this.#open += change
    const own = (this.#byTenant.get(tenant) ?? 0) + change
    if (own === 0) this.#byTenant.delete(tenant)
    else this.#byTenant.set(tenant, own)
  }
}
