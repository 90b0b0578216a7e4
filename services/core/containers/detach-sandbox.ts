import { isAsleep, type Container } from './container.ts'
import type { ContainerStore } from '../ports/container-store.ts'

/**
 * Takes its sandbox from a container. Variables that still lie in a snapshot which no kernel has had are not lost; otherwise the next
 * execution is told `why` there are none. Null when the container moved on.
 */
export const detachSandbox = (
  containers: ContainerStore,
  container: Container,
  why: string,
  options: { readonly dueAt: number | null; readonly whileUnused?: boolean },
): Promise<Container | null> => {
  const { tenant, id, generation } = container
  const whileAsleep = isAsleep(container)
  const stateLost = whileAsleep ? container.stateLost : why
  const { dueAt, whileUnused = false } = options
  return containers.setSandbox(tenant, id, generation, { sandboxId: null, stateLost, dueAt }, { whileUnused, whileAsleep })
}
