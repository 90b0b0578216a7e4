import type { Container } from '../../model/containers/container.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { Table } from '../../ports/table.ts'

/** The container that claimed a sandbox. Null: none did, or its row was removed. */
export const holderOf = async (
  { containers }: { readonly containers: Pick<Table['containers'], 'get'> },
  { claimedBy }: Pick<Sandbox, 'claimedBy'>,
): Promise<Container | null> => (claimedBy === null ? null : containers.get(claimedBy.tenant, claimedBy.containerId))
