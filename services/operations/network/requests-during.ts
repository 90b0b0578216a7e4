import type { Container } from '../../model/containers/container.ts'
import type { ExecutionNetwork, Lost } from '../../model/executions/execution.ts'
import { isWholeRing, type NetworkEntry } from '../../model/network/network-log.ts'
import { hasNetwork } from '../../model/network/secret.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { Table } from '../../ports/table.ts'

type LogTable = Pick<Table, 'networkLog'>

/** Entries of the log that are read at once. */
const PAGE = 1_000
const MAX_NAMED = 5

/**
 * The requests of a container since `startedAt`: their number, and each refused host with the reason. Null without a network and without a request. Programs in the background are counted
 * too, because the gateway knows the container of a request and not its program. `lost` also says when earlier requests are no longer in the log, which the counts then lack.
 */
export async function requestsDuring(
  { table, network }: { readonly table: LogTable; readonly network?: Pick<NetworkPorts, 'settle'> | undefined },
  container: Container,
  startedAt: number,
): Promise<{ readonly counts: ExecutionNetwork; readonly lost: readonly Lost[] } | null> {
  if (network === undefined || !hasNetwork(container)) return null
  await network.settle?.()
  const { entries, isCut } = await entriesSince(table, container, startedAt)
  if (entries.length === 0) return null
  const refused = entries.filter(({ decision }) => decision === 'refused')
  return {
    counts: {
      requests: entries.length,
      refused: refused.length,
      bytes: entries.reduce((sum, { bytesUp, bytesDown }) => sum + bytesUp + bytesDown, 0),
    },
    lost: [...refusedHosts(refused), ...(isCut ? [uncounted(entries.length)] : [])],
  }
}

/** The latest first. `isCut`: the log keeps no more, and its oldest entry is of this time. */
async function entriesSince(
  { networkLog }: LogTable,
  { tenant, id: containerId }: Container,
  startedAt: number,
): Promise<{ readonly entries: readonly NetworkEntry[]; readonly isCut: boolean }> {
  const entries: NetworkEntry[] = []
  let newest: string | null = null
  for (let after: string | null = null; ;) {
    const { rows, hasMore } = await networkLog.list({ tenant, containerId }, { after, limit: PAGE, order: 'desc' })
    const oldest = rows.at(-1)
    if (oldest === undefined) return { entries, isCut: false }
    newest ??= rows[0]?.id ?? null
    entries.push(...rows.map(({ entry }) => entry).filter(({ at }) => at >= startedAt))
    if (oldest.entry.at < startedAt) return { entries, isCut: false }
    if (!hasMore) return { entries, isCut: newest !== null && isWholeRing(newest, oldest.id) }
    after = oldest.id
  }
}

/** Each host once, with the reason. */
function refusedHosts(refused: readonly NetworkEntry[]): readonly Lost[] {
  const reasons = new Map(refused.map(({ host, reason }) => [host, reason ?? 'The network policy does not allow it.']))
  const named = [...reasons].slice(0, MAX_NAMED).map(([host, reason]) => ({ what: `request to ${host}`, reason }))
  const more = reasons.size - named.length
  return more > 0 ? [...named, { what: 'requests', reason: `Requests to ${more} more hosts were refused.` }] : named
}

const uncounted = (counted: number): Lost => ({
  what: 'count of requests',
  reason: `Only the latest ${counted} requests are counted: the log of the container no longer has the earlier ones.`,
})
