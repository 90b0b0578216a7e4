import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { claimedByTenant } from '../../operations/sandboxes/claimed-by-tenant.ts'
import type { SandboxDriver } from '../../ports/sandbox-driver.ts'
import type { Table } from '../../ports/table.ts'

interface SharePorts {
  readonly table: { readonly sandboxes: Pick<Table['sandboxes'], 'all'> }
  readonly driver: Pick<SandboxDriver, 'weigh'>
}

/**
 * Shares the processors of one machine between tenants instead of between sandboxes: the more sandboxes a tenant has, the less each of them weighs. A warm sandbox
 * belongs to no tenant when it starts, so its group on the host cannot be that of a tenant, and the weights follow the claims.
 */
export class ProcessorShares {
  readonly #ports: SharePorts
  /** What this process has set, by sandbox and resumption: each begins with the weight 1. */
  #weights = new Map<string, number>()

  constructor(ports: SharePorts) {
    this.#ports = ports
  }

  /** Sets the weights that have changed since the last call, one after the other. Throws the first DriverError after the last; the next call tries again. */
  async balance(): Promise<void> {
    const { table, driver } = this.#ports
    if (driver.weigh === undefined) return
    const wanted = weightsOf(await table.sandboxes.all())
    const weights = new Map(wanted.map(({ start }) => [start, this.#weights.get(start) ?? 1]))
    this.#weights = weights
    const failures: unknown[] = []
    for (const { id, start, weight } of wanted) {
      if (weights.get(start) === weight) continue
      await driver.weigh(id, weight).then(
        () => weights.set(start, weight),
        (cause: unknown) => failures.push(cause),
      )
    }
    if (failures.length > 0) throw failures[0]
  }
}

/**
 * The weight of each claimed sandbox. Of a tenant with several, each has the half, a quarter, an eighth and so on, the largest of these with which all of them
 * weigh at most 1: so another sandbox changes the others only at each power of two.
 */
export function weightsOf(
  sandboxes: readonly Pick<Sandbox, 'id' | 'state' | 'claimedBy' | 'resumedAt'>[],
): readonly { readonly id: string; readonly start: string; readonly weight: number }[] {
  return [...claimedByTenant(sandboxes).values()].flatMap((held) => {
    const weight = 1 / 2 ** Math.ceil(Math.log2(held.length))
    return held.map(({ id, resumedAt = 0 }) => ({ id, start: `${id} ${resumedAt}`, weight }))
  })
}
