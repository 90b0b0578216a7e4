import { ServiceError } from '../../model/errors.ts'
import type { Container } from '../../model/containers/container.ts'
import type { Table } from '../../ports/table.ts'
import { applyNetwork } from './attachment.ts'
import { removeSecrets, storeSecrets, type PolicyPorts, type WantedNetwork } from './new-policy.ts'

/**
 * Replaces what a container may reach, also while its code runs. `wanted` was checked. A request that begins after the answer is decided by the new policy.
 * Null when the container was deleted meanwhile. Throws ServiceError `sandbox_unavailable` when the gateway does not enforce it.
 */
export async function setContainerNetwork(
  ports: PolicyPorts & { readonly table: Pick<Table, 'containers' | 'secrets' | 'sandboxes'> },
  { tenant, id, subject }: Pick<Container, 'tenant' | 'id' | 'subject'>,
  { policy, secrets }: WantedNetwork,
): Promise<Container | null> {
  await storeSecrets(ports, { tenant, subject, owner: id }, secrets)
  const changed = await ports.table.containers.setNetwork(tenant, id, policy)
  await removeSecrets(ports.table, { tenant, owner: id, except: changed === null ? [] : secrets.map(({ name }) => name) })
  if (changed !== null)
    await applyNetwork(ports, changed).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new ServiceError('sandbox_unavailable', `The policy is stored, and the network gateway could not enforce it yet: ${why}`, {
        cause,
      })
    })
  return changed
}
