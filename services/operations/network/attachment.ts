import type { Container } from '../../model/containers/container.ts'
import { expandPolicy } from '../../model/network/policy.ts'
import { hasNetwork, placeholderOf, policyOf, secretContext, secretNamesOf, SHARED, type StoredSecret } from '../../model/network/secret.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import type { NetworkAttachment, NetworkPorts, NetworkSecret } from '../../ports/network-gateway.ts'
import type { Table } from '../../ports/table.ts'
import type { LimitReader } from '../tenancy/limit-reader.ts'
import { ceilingOf } from './new-policy.ts'

export interface AttachmentPorts {
  readonly table: Pick<Table, 'secrets' | 'sandboxes'>
  readonly limits: LimitReader
  readonly network?: NetworkPorts | undefined
}

/** What the gateway has to enforce for a container in this sandbox; null for a container without a network, and on a server without a gateway. */
export async function networkAttachment(
  ports: AttachmentPorts,
  container: Container,
  session: SandboxSession,
): Promise<NetworkAttachment | null> {
  const { tenant, id: containerId } = container
  if (!hasNetwork(container) || ports.network === undefined) return null
  const { bytes, ...policy } = policyOf(container)
  const [ceiling, limits, usedToday, secrets] = await Promise.all([
    ceilingOf(ports, tenant),
    ports.limits.of(tenant),
    ports.network.use.bytesToday(tenant),
    secretsFor(ports, container),
  ])
  return {
    tenant,
    containerId,
    session,
    rules: expandPolicy(policy),
    ceiling: expandPolicy(ceiling),
    bytesLeft: Math.max(0, Math.min((bytes ?? Infinity) - (container.networkBytes ?? 0), limits.networkBytesPerDay - usedToday)),
    limits: { connections: limits.networkConnections, requestsPerSecond: limits.networkRequestsPerSecond },
    secrets,
  }
}

/** A secret of the container comes before one of the tenant. One that is gone is left out: the gateway refuses the requests that need it. */
async function secretsFor({ table, network }: AttachmentPorts, container: Container): Promise<readonly NetworkSecret[]> {
  const { tenant, id, subject } = container
  const names = secretNamesOf(policyOf(container))
  if (names.length === 0 || network === undefined) return []
  const [own, shared] = await Promise.all([table.secrets.list(tenant, id), table.secrets.list(tenant, SHARED)])
  // A container of an end user gets that user's secrets only.
  const candidates: readonly StoredSecret[] = [...own, ...shared.filter((secret) => secret.subject === subject)]
  const chosen = names.flatMap((name) => candidates.find((secret) => secret.name === name) ?? [])
  return Promise.all(
    chosen.map(async (secret) => ({
      name: secret.name,
      placeholder: placeholderOf(id, secret.name),
      hosts: secret.hosts,
      value: await network.cipher.open(secret.sealed, secretContext(secret)),
    })),
  )
}

/** Before work starts: makes the gateway enforce the policy of the container in this sandbox. Throws when the gateway cannot. */
export async function enforceNetwork(ports: AttachmentPorts, container: Container, session: SandboxSession): Promise<void> {
  if (ports.network === undefined) return
  const attachment = await networkAttachment(ports, container, session)
  await (attachment === null ? ports.network.gateway.detach(container.id) : ports.network.gateway.attach(attachment))
}

/** Makes the gateway enforce what the container's row says now. A container without a sandbox is attached by its next execution. */
export async function applyNetwork(ports: AttachmentPorts, container: Container): Promise<void> {
  if (ports.network === undefined) return
  if (!hasNetwork(container) || container.sandboxId === null) return ports.network.gateway.detach(container.id)
  const sandbox = await ports.table.sandboxes.get(container.sandboxId)
  if (sandbox === null || sandbox.address === null) return
  await enforceNetwork(ports, container, { sandboxId: sandbox.id, address: sandbox.address, privateKey: sandbox.privateKey })
}
