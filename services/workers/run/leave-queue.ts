import { notifyExecution, notifyQueueHead } from '../../operations/notify/notify-execution.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import type { Container } from '../../model/containers/container.ts'
import { isId } from '../../model/ids.ts'
import type { RunDeps } from '../deps.ts'

/** Enqueues the commands that wait in the container's queue for its sandbox, which has just been prepared. */
export async function notifyWaitingCommands(
  { table, queue }: Pick<RunDeps, 'table' | 'queue'>,
  { tenant, id }: Pick<Container, 'tenant' | 'id'>,
  preparedBy: string,
): Promise<void> {
  const waiting = (await table.containers.get(tenant, id))?.queue.filter((jobId) => jobId !== preparedBy && isId('command', jobId)) ?? []
  await Promise.all(waiting.map((commandId) => notifyExecution(queue, tenant, id, commandId)))
}

/** A command waits in the container's queue only until its sandbox has the files. Then the next execution may start. */
export async function leaveQueue(
  { table, queue, clock }: Pick<RunDeps, 'table' | 'queue' | 'clock'>,
  container: Pick<Container, 'tenant' | 'id' | 'queue'>,
  commandId: string,
): Promise<void> {
  if (container.queue[0] !== commandId) return
  const now = clock.now()
  const without = await table.containers.dequeue(container.tenant, container.id, commandId, now, now + RECONCILE_AFTER_MS)
  if (without !== null) await notifyQueueHead(queue, without, without.queue[0], now)
}
