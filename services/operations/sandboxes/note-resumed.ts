import { isSuspended, type Container } from '../../model/containers/container.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { Table } from '../../ports/table.ts'
import { holderOf } from './holder-of.ts'

/**
 * Records that the sandbox of a suspended container runs again: from now on its kernel may be newer than the snapshot, which is never restored again. Called for
 * a sandbox that is `claimed`, before it gets code. Returns the row; null when another step changed it.
 */
export async function noteResumed(table: Pick<Table, 'containers'>, container: Container): Promise<Container | null> {
  const { tenant, id, generation, snapshot } = container
  if (!isSuspended(container) || snapshot === null) return container
  return table.containers.endRestore(tenant, id, { generation, objectKey: snapshot.objectKey, isResumed: true })
}

/** The same for a sandbox that runs, if it was ever suspended. */
export async function noteResumedBy(table: Pick<Table, 'containers'>, sandbox: Sandbox): Promise<void> {
  if (sandbox.checkpoint === undefined || sandbox.state !== 'claimed') return
  const container = await holderOf(table, sandbox)
  if (container?.sandboxId === sandbox.id) await noteResumed(table, container)
}
