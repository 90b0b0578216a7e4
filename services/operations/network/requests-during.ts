import type { Container } from '../../model/containers/container.ts'
import type { ExecutionNetwork, Lost } from '../../model/executions/execution.ts'
import { hasNetwork } from '../../model/network/secret.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { Table } from '../../ports/table.ts'

/** The latest entries of the log that are read for one execution. */
const MAX_COUNTED = 1_000
const MAX_NAMED = 5

/**
 * The requests of a container since `startedAt`: their number, and each refused host with the reason. Null without a network and without a request. Programs in the background are counted
 * too, because the gateway knows the container of a request and not its program.
 */
export async function requestsDuring(
  { table, network }: { readonly table: Pick<Table, 'networkLog'>; readonly network?: Pick<NetworkPorts, 'settle'> | undefined },
  container: Container,
  startedAt: number,
): Promise<{ readonly counts: ExecutionNetwork; readonly refused: readonly Lost[] } | null> {
  if (network === undefined || !hasNetwork(container)) return null
  await network.settle?.()
  const of = { tenant: container.tenant, containerId: container.id }
  const { rows } = await table.networkLog.list(of, { after: null, limit: MAX_COUNTED, order: 'desc' })
  const entries = rows.map(({ entry }) => entry).filter(({ at }) => at >= startedAt)
  if (entries.length === 0) return null
  const refused = entries.filter(({ decision }) => decision === 'refused')
  const reasons = new Map(refused.map(({ host, reason }) => [host, reason ?? 'The network policy does not allow it.']))
  const named = [...reasons].slice(0, MAX_NAMED).map(([host, reason]) => ({ what: `request to ${host}`, reason }))
  const more = reasons.size - named.length
  return {
    counts: {
      requests: entries.length,
      refused: refused.length,
      bytes: entries.reduce((sum, { bytesUp, bytesDown }) => sum + bytesUp + bytesDown, 0),
    },
    refused: more > 0 ? [...named, { what: 'requests', reason: `Requests to ${more} more hosts were refused.` }] : named,
  }
}
