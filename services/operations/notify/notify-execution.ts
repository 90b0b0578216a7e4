import type { Container } from '../../model/containers/container.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { ContainerSeen } from '../../model/messages.ts'
import type { Queue } from '../../ports/queue.ts'

/** Enqueues the next step of an execution. If sending fails, the reconciler sends the message later. */
export async function notifyExecution(
  queue: Queue,
  { tenant, containerId, id: executionId }: Pick<Execution, 'tenant' | 'containerId' | 'id'>,
  { seen, delaySeconds = 0 }: { readonly seen?: ContainerSeen; readonly delaySeconds?: number } = {},
): Promise<void> {
  const message = { v: 1, type: 'execution.step', tenant, containerId, executionId, ...(seen && { seen }) } as const
  await queue.send('executions', message, { group: tenant, delaySeconds }).catch(() => undefined)
}

/** Enqueues `executionId` if it is the head in `container`, the row as written at `now`. The message contains that row, so the step need not read it. */
export async function notifyQueueHead(
  queue: Queue,
  container: Container,
  { executionId, now }: { readonly executionId: string | undefined; readonly now: number },
): Promise<void> {
  if (executionId === undefined || container.queue[0] !== executionId) return
  const seen = { at: now, container: { ...container, queue: [executionId] } }
  await notifyExecution(queue, { tenant: container.tenant, containerId: container.id, id: executionId }, { seen })
}
