import type { Container } from '../../model/containers/container.ts'
import { expandPolicy } from '../../model/network/policy.ts'
import { hasNetwork, placeholderOf, policyOf, secretContext, secretNamesOf, SHARED, type StoredSecret } from '../../model/network/secret.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import type {
  NetworkAttachment,
  NetworkEnforcer,
  NetworkGateway,
  NetworkPorts,
  NetworkSecret,
  NetworkUse,
} from '../../ports/network-gateway.ts'
import type { SecretCipher } from '../../ports/secret-cipher.ts'
import type { Table } from '../../ports/table.ts'
import type { LimitReader } from '../tenancy/limit-reader.ts'
import { ceilingOf } from './new-policy.ts'

/** Of the process that tells the gateway what to enforce: the only one that opens secrets. */
export interface AttachmentPorts {
  readonly table: Pick<Table, 'secrets'>
  readonly limits: LimitReader
  readonly cipher: Pick<SecretCipher, 'open'>
  readonly use: NetworkUse
}

/** What the gateway has to enforce for a container in this sandbox; null for a container without a network. */
export async function networkAttachment(
  ports: AttachmentPorts,
  container: Container,
  session: SandboxSession,
): Promise<NetworkAttachment | null> {
  const { tenant, id: containerId } = container
  if (!hasNetwork(container)) return null
  const { bytes, ...policy } = policyOf(container)
  const [ceiling, limits, usedToday, secrets] = await Promise.all([
    ceilingOf(ports, tenant),
    ports.limits.of(tenant),
    ports.use.bytesToday(tenant),
    secretsFor(ports, container),
  ])
  return {
    tenant,
    containerId,
    session,
    rules: expandPolicy(policy),
    ceiling: expandPolicy(ceiling),
    deny: policy.deny ?? [],
    bytesLeft: Math.max(0, Math.min((bytes ?? Infinity) - (container.networkBytes ?? 0), limits.networkBytesPerDay - usedToday)),
    limits: { connections: limits.networkConnections, requestsPerSecond: limits.networkRequestsPerSecond },
    secrets,
  }
}

/** A secret of the container comes before one of the tenant. One that is gone is left out: the gateway refuses the requests that need it. */
async function secretsFor({ table, cipher }: AttachmentPorts, container: Container): Promise<readonly NetworkSecret[]> {
  const { tenant, id, subject } = container
  const names = secretNamesOf(policyOf(container))
  if (names.length === 0) return []
  const [own, shared] = await Promise.all([table.secrets.list(tenant, id), table.secrets.list(tenant, SHARED)])
  // A container of an end user gets that user's secrets only.
  const candidates: readonly StoredSecret[] = [...own, ...shared.filter((secret) => secret.subject === subject)]
  const chosen = names.flatMap((name) => candidates.find((secret) => secret.name === name) ?? [])
  return Promise.all(
    chosen.map(async (secret) => ({
      name: secret.name,
      placeholder: placeholderOf(id, secret.name),
      hosts: secret.hosts,
      value: await cipher.open(secret.sealed, secretContext(secret)),
    })),
  )
}

/** Enforces through a gateway of this process. */
export const createEnforcer = (ports: AttachmentPorts & { readonly gateway: NetworkGateway }): NetworkEnforcer => ({
  async enforce(container, session) {
    const attachment = await networkAttachment(ports, container, session)
    await (attachment === null ? ports.gateway.detach(container.id) : ports.gateway.attach(attachment))
  },
  release: (containerId) => ports.gateway.detach(containerId),
})

interface ApplyPorts {
  readonly table: Pick<Table, 'sandboxes'>
  readonly network?: Pick<NetworkPorts, 'enforcer'> | undefined
}

/** Makes the gateway enforce what the container's row says now. A container without a sandbox is attached by its next execution. */
export async function applyNetwork({ table, network }: ApplyPorts, container: Container): Promise<void> {
  if (network === undefined) return
  if (!hasNetwork(container) || container.sandboxId === null) return network.enforcer.release(container.id)
  const sandbox = await table.sandboxes.get(container.sandboxId)
  if (sandbox === null || sandbox.address === null) return
  await network.enforcer.enforce(container, { sandboxId: sandbox.id, address: sandbox.address, privateKey: sandbox.privateKey })
}
