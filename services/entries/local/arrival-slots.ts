import pLimit, { type LimitFunction } from 'p-limit'

/** Lets a bounded number of long messages of one tenant arrive at the same time. Connections that wait are paused, so that their bytes stay in the network. */
export class ArrivalSlots {
  readonly #perTenant: number
  readonly #tenants = new Map<string, LimitFunction>()

  constructor(perTenant: number) {
    this.#perTenant = perTenant
  }

  /** `granted` resolves when the message may arrive; `release` frees the slot, also one that is still awaited. Further calls of it have no effect. */
  take(tenant: string): { readonly granted: Promise<void>; readonly release: () => void } {
    const limit = this.#tenants.get(tenant) ?? pLimit(this.#perTenant)
    this.#tenants.set(tenant, limit)
    const granted = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    void limit(() => (granted.resolve(), released.promise)).then(() => {
      if (limit.activeCount === 0 && limit.pendingCount === 0) this.#tenants.delete(tenant)
    })
    return { granted: granted.promise, release: released.resolve }
  }
}
