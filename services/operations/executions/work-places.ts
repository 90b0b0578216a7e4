import { notifyExecution, notifyQueueHead } from '../notify/notify-execution.ts'
import type { Container } from '../../model/containers/container.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { commandSourceOf, type WorkKindName } from '../../model/executions/work-kinds.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ContainerStore } from '../../ports/container-store.ts'
import type { Queue } from '../../ports/queue.ts'

type Work = Pick<Execution, 'tenant' | 'id' | 'containerId' | 'source'>

/** Where a container lists one kind of work that has not ended. */
export interface WorkPlace {
  /** The maximum of a container, for the error when it is reached. */
  readonly maximum: { readonly name: string; readonly value: number; readonly text: string }
  /** Lists it in its container; `dueAt`: when the reconciler reads the container. Idempotent. */
  join(
    containers: ContainerStore,
    work: Work,
    at: { readonly now: number; readonly dueAt: number },
  ): Promise<Container | 'missing' | 'full'>
  /** Enqueues it if it may run now; `container` as written at `now`. */
  notify(queue: Queue, container: Container, at: { readonly id: string; readonly now: number }): Promise<void>
  /** Removes it at its end from every list but the queue. Returns whether it may be in the queue. Idempotent. */
  leave(containers: ContainerStore, work: Work, now: number): Promise<boolean>
}

export const WORK_PLACES: Readonly<Record<WorkKindName, WorkPlace>> = {
  execution: {
    maximum: {
      name: 'max_queued_per_container',
      value: LIMITS.maxQueuedPerContainer,
      text: `has ${LIMITS.maxQueuedPerContainer} queued executions, the maximum. Wait for one to finish or cancel one.`,
    },
    join: (containers, { tenant, containerId, id }, { now, dueAt }) =>
      containers.enqueue(tenant, containerId, { executionId: id, now, dueAt }),
    notify: (queue, container, { id, now }) => notifyQueueHead(queue, container, { executionId: id, now }),
    leave: () => Promise.resolve(true),
  },
  command: {
    maximum: {
      name: 'max_commands_per_container',
      value: LIMITS.maxCommandsPerContainer,
      text: `runs ${LIMITS.maxCommandsPerContainer} commands, the maximum. Wait for one to end or cancel one.`,
    },
    join: (containers, work, { now }) =>
      containers.addCommand(work.tenant, work.containerId, { commandId: work.id, isBackground: commandSourceOf(work).isBackground, now }),
    notify: (queue, container, { id, now }) =>
      notifyExecution(queue, { tenant: container.tenant, containerId: container.id, id }, { seen: { at: now, container } }),
    // A command that ended before it ran may still be in the queue.
    leave: async (containers, { tenant, containerId, id }, now) => {
      const present = await containers.removeCommand(tenant, containerId, { commandId: id, now })
      return present?.queue[0] === id
    },
  },
}
