import type { Container } from '../containers/container.ts'
import { ServiceError } from '../errors.ts'
import type { Execution, ExecutionSource } from './execution.ts'
import { LIMITS } from '../limits.ts'
import type { ContainerSeen } from '../messages.ts'
import type { Queue } from '../ports/queue.ts'
import type { Table } from '../ports/table.ts'
import { currentTraceparent } from '../trace.ts'

export interface NewExecution {
  readonly tenant: string
  readonly subject: string | null
  /** Chosen by the caller before the first write, so that a repeated call accepts it once. */
  readonly id: string
  readonly containerId: string
  readonly responseId: string | null
  readonly source: ExecutionSource
  readonly timeoutSeconds: number
  readonly onError: 'stop' | 'continue'
  readonly storeHistory: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly publicUrl: string
  readonly awaitedUntil?: number
}

/** The reconciler looks after a row that nobody moved for this long, milliseconds. */
export const RECONCILE_AFTER_MS = 10_000

/**
 * Accepts an execution: its row (the promise) and its place in the container's queue, then the nudge. Repeating it with the same id changes
 * nothing. Throws ServiceError `container_not_found` or `too_many_queued`; then nothing was accepted.
 */
export async function acceptExecution(
  ports: { readonly table: Table; readonly queue: Queue },
  wanted: NewExecution,
  now: number,
): Promise<{ readonly execution: Execution; readonly container: Container }> {
  const { table, queue } = ports
  const dueAt = now + RECONCILE_AFTER_MS
  const execution: Execution = {
    ...wanted,
    v: 1,
    status: 'queued',
    reason: null,
    traceparent: currentTraceparent(),
    createdAt: now,
    startedAt: null,
    endedAt: null,
    cancelRequestedAt: null,
    stepsFailSince: null,
    lease: null,
    fence: 0,
    sandboxId: null,
    lostBefore: [],
    result: null,
    resultRef: null,
    tailEvents: [],
    dueAt,
  }
  const [isNew, container] = await Promise.all([
    table.executions.create(execution),
    table.containers.enqueue(wanted.tenant, wanted.containerId, wanted.id, now, dueAt),
  ])
  if (typeof container === 'string') {
    // A row from an earlier call stays: it may have a result by now. One from this call may look like it when the answer to its write got lost.
    const row = isNew ? execution : await table.executions.get(wanted.tenant, wanted.id)
    if (row?.createdAt === now && row.fence === 0) await table.executions.remove(wanted.tenant, wanted.id)
    if (container === 'missing')
      throw new ServiceError('container_not_found', `No container "${wanted.containerId}" exists. Create one with POST /v1/containers.`)
    throw new ServiceError(
      'too_many_queued',
      `${LIMITS.maxQueuedPerContainer} executions wait in this container already. Wait until one has ended.`,
    )
  }
  await notifyQueueHead(queue, container, wanted.id, now)
  return { execution, container }
}

/** A lost nudge is no lost job: the reconciler sends another one. */
export async function notifyExecution(
  queue: Queue,
  tenant: string,
  containerId: string,
  executionId: string,
  { seen, delaySeconds = 0 }: { readonly seen?: ContainerSeen; readonly delaySeconds?: number } = {},
): Promise<void> {
  const message = { v: 1, type: 'execution.step', tenant, containerId, executionId, ...(seen && { seen }) } as const
  await queue.send('executions', message, { group: tenant, delaySeconds }).catch(() => undefined)
}

/** Nudges `executionId` if the container's row, as a write at `now` left it, has it at the head. It takes that row along, so that nobody need read it. */
export async function notifyQueueHead(queue: Queue, container: Container, executionId: string | undefined, now: number): Promise<void> {
  if (executionId === undefined || container.queue[0] !== executionId) return
  const seen = { at: now, container: { ...container, queue: [executionId] } }
  await notifyExecution(queue, container.tenant, container.id, executionId, { seen })
}
