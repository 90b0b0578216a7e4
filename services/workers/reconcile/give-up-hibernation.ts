import { firstRetentionCheck } from '../../model/tenants/retention.ts'
import type { HibernateMessage } from '../../model/messages.ts'
import { detachSandbox } from '../../operations/containers/detach-sandbox.ts'
import { isSuspended } from '../../model/containers/container.ts'
import type { DeadLetterOutcome } from '../../jobs/dead-letter.ts'
import type { PlaceDeps } from '../deps.ts'
import { stopSandbox } from '../place/stop-sandbox.ts'

/** Stops the sandbox of an idle container whose variables could not be saved. The result of the next execution names the loss. */
export async function giveUpHibernation(deps: PlaceDeps, message: HibernateMessage): Promise<DeadLetterOutcome> {
  const container = await deps.table.containers.get(message.tenant, message.containerId)
  if (container === null || container.sandboxId === null || container.lastActiveAt !== message.idleSince) return 'ended'
  if (isSuspended(container)) return 'ended'
  if (container.hibernating !== null && container.hibernating.expiresAt > deps.clock.now()) return 'busy'
  const freed = await detachSandbox(deps.table.containers, container, {
    why: 'They could not be saved when the container hibernated.',
    dueAt: firstRetentionCheck(deps.clock.now()),
    whileUnused: true,
  })
  if (freed !== null) await stopSandbox(deps, container.sandboxId)
  return 'ended'
}
