import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import type { Call } from '../../http/route.ts'
import { sandboxIdOf } from './sandbox-id.ts'
import { changeSession } from './session.ts'

/** Maximum wait for saving the variables of a large kernel, milliseconds; then the client tries again. */
const PAUSE_MS = 55_000
const POLL_MS = 100

/**
 * Hibernates a container now: saves its variables and releases its sandbox. Commands that run end first, because a process cannot be saved.
 * Throws ServiceError `sandbox_unavailable` when that takes too long; the sandbox then runs on.
 */
export async function pauseContainer({ deps, request }: Pick<Call, 'deps' | 'request'>, container: Container): Promise<void> {
  const { tenant, id } = container
  for (const commandId of [...(container.commands ?? []), ...(container.backgroundCommands ?? [])])
    await cancelExecution(deps, { tenant, id: commandId })
  const deadline = deps.clock.now() + PAUSE_MS
  let asked: number | null = null
  for (;;) {
    const row = await deps.table.containers.get(tenant, id)
    if (row === null || row.deletedAt !== null || row.sandboxId === null) break
    const isUsed = row.queue.length > 0 || (row.commands?.length ?? 0) > 0 || (row.backgroundCommands?.length ?? 0) > 0
    // The worker hibernates only a container that was last used when the message says.
    if (!isUsed && asked !== row.lastActiveAt) {
      asked = row.lastActiveAt
      await deps.queue.send(
        'executions',
        { v: 1, type: 'container.hibernate', tenant, containerId: id, idleSince: row.lastActiveAt },
        { group: tenant },
      )
    }
    if (deps.clock.now() >= deadline || request.signal.aborted)
      throw new ServiceError('sandbox_unavailable', `The sandbox ${sandboxIdOf(container)} is busy. Pause it when its code has ended.`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  await changeSession({ deps }, container, (session) => session && { ...session, isPaused: true })
}
