import { matchesHost, normalizeTarget } from '../../model/network/host.ts'
import { hostsOf } from '../../model/network/policy.ts'
import type { Table } from '../../ports/table.ts'
import { ceilingOf, type PolicyPorts } from './new-policy.ts'

/** What is read: the newest containers, and the latest requests of each. */
const MAX_CONTAINERS = 50
const MAX_REQUESTS = 100
const MAX_HOSTS = 50

interface RefusedHost {
  readonly host: string
  /** The latest one. */
  readonly reason: string
  readonly requests: number
  readonly lastAt: number
  /** The container that asked last. */
  readonly containerId: string
  /** The ceiling has the host: the account can allow it in its container. */
  readonly isInCeiling: boolean
}

/** Hosts that code of a tenant asked for and was refused, the latest first. */
export async function refusedHosts(
  { table, limits }: Pick<PolicyPorts, 'limits'> & { readonly table: Pick<Table, 'containers' | 'networkLog'> },
  tenant: string,
): Promise<readonly RefusedHost[]> {
  const ceiling = hostsOf(await ceilingOf({ limits }, tenant))
  const { rows: containers } = await table.containers.list(tenant, { name: null, after: null, limit: MAX_CONTAINERS, order: 'desc' })
  const found = new Map<string, RefusedHost>()
  for (const { id: containerId, network } of containers) {
    if (network === undefined) continue
    const { rows } = await table.networkLog.list({ tenant, containerId }, { after: null, limit: MAX_REQUESTS, order: 'desc' })
    for (const { entry } of rows) {
      // A private address cannot be allowed.
      if (entry.decision !== 'refused' || normalizeTarget(entry.host) === null) continue
      const { host, at: lastAt, reason } = entry
      const before = found.get(host)
      const isInCeiling = ceiling.some((pattern) => matchesHost(pattern, host))
      const own = { host, reason: reason ?? '', lastAt, containerId, isInCeiling }
      const latest = before !== undefined && before.lastAt >= lastAt ? before : own
      found.set(host, { ...latest, requests: (before?.requests ?? 0) + 1 })
    }
  }
  return [...found.values()].toSorted((one, other) => other.lastAt - one.lastAt).slice(0, MAX_HOSTS)
}
