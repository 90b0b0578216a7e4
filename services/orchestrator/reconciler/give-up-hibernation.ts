import { CONTAINER_KEPT_MS } from '../../core/containers/container.ts'
import type { HibernateMessage } from '../../core/messages.ts'
import { detachSandbox } from '../../core/containers/detach-sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { stopSandbox } from '../place/place-step.ts'

/** Lets the sandbox of an idle container go although its variables could not be saved; the next execution is told. */
export async function giveUpHibernation(deps: PlaceDeps, message: HibernateMessage): Promise<'buried' | 'busy'> {
  const container = await deps.table.containers.get(message.tenant, message.containerId)
  if (container === null || container.sandboxId === null || container.lastActiveAt !== message.idleSince) return 'buried'
  if (container.hibernating !== null && container.hibernating.expiresAt > deps.clock.now()) return 'busy'
  const freed = await detachSandbox(deps.table.containers, container, 'They could not be saved when the container fell asleep.', {
    dueAt: container.lastActiveAt + CONTAINER_KEPT_MS,
    whileUnused: true,
  })
  if (freed !== null) await stopSandbox(deps, container.sandboxId)
  return 'buried'
}
