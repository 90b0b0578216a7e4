import { isHibernated, isSuspended, type Container } from '../../model/containers/container.ts'
import type { Lost } from '../../model/executions/execution.ts'
import type { ContainerStore } from '../../ports/container-store.ts'

/** A suspended sandbox could not be resumed or copied: its container has the variables and files of that time. */
export const LOST_PROCESSES: Lost = {
  what: 'processes',
  reason:
    'The suspended sandbox could not be resumed or copied. Variables and files are as they were saved; programs, threads and sessions that ran have ended.',
}

/**
 * Removes the sandbox from a container's row. Variables in a snapshot that no kernel has received are not lost; otherwise the next
 * execution reports `why`. Null when the container already has another generation.
 */
export async function detachSandbox(
  containers: ContainerStore,
  container: Container,
  { why, dueAt, whileUnused = false }: { readonly why: string; readonly dueAt: number | null; readonly whileUnused?: boolean },
): Promise<Container | null> {
  const { tenant, id, generation, lostCommands = [] } = container
  if (isSuspended(container) && !lostCommands.some(({ what }) => what === LOST_PROCESSES.what))
    await containers.noteLostCommands(tenant, id, [...lostCommands, LOST_PROCESSES])
  const whileHibernated = isHibernated(container)
  const stateLost = whileHibernated ? container.stateLost : why
  return containers.setSandbox(tenant, id, { generation, sandboxId: null, stateLost, dueAt, whileUnused, whileHibernated })
}
