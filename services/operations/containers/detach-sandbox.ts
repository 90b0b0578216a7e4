import { isHibernated, type Container } from '../../model/containers/container.ts'
import type { ContainerStore } from '../../ports/container-store.ts'

/**
 * Removes the sandbox from a container's row. Variables in a snapshot that no kernel has received are not lost; otherwise the next
 * execution reports `why`. Null when the container already has another generation.
 */
export const detachSandbox = (
  containers: ContainerStore,
  container: Container,
  { why, dueAt, whileUnused = false }: { readonly why: string; readonly dueAt: number | null; readonly whileUnused?: boolean },
): Promise<Container | null> => {
  const { tenant, id, generation } = container
  const whileHibernated = isHibernated(container)
  const stateLost = whileHibernated ? container.stateLost : why
  return containers.setSandbox(tenant, id, { generation, sandboxId: null, stateLost, dueAt, whileUnused, whileHibernated })
}
