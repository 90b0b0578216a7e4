import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { workKindOf } from '../../model/executions/work-kinds.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'
import { currentTraceparent } from '../../model/trace.ts'
import { WORK_PLACES } from './work-places.ts'

/** The fields of an execution that its caller decides. `id` is chosen before the first write, so that a repeated call accepts the execution once. */
export type NewExecution = Pick<
  Execution,
  | 'tenant'
  | 'subject'
  | 'id'
  | 'containerId'
  | 'responseId'
  | 'source'
  | 'scope'
  | 'language'
  | 'timeoutSeconds'
  | 'onError'
  | 'storeHistory'
  | 'metadata'
  | 'publicUrl'
  | 'awaitedUntil'
>

/**
 * Accepts an execution or a command: writes its row, adds its id to the container's queue or list of commands, then sends the message. A
 * repetition with the same id changes nothing. Throws ServiceError `container_not_found` or `too_many_queued`; the execution is then not accepted.
 */
export async function acceptExecution(
  ports: { readonly table: Pick<Table, 'executions' | 'containers' | 'flush'>; readonly queue: Queue },
  wanted: NewExecution,
  now: number,
): Promise<{ readonly execution: Execution; readonly container: Container }> {
  const { table, queue } = ports
  const dueAt = now + RECONCILE_AFTER_MS
  const place = WORK_PLACES[workKindOf(wanted).name]
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
    table.executions.create(execution, { isDeferred: true }),
    place.join(table.containers, wanted, { now, dueAt }),
  ])
  if (typeof container === 'string') {
    // Only a row of this call is removed; a row of an earlier call may have a result. `isNew` is false if the answer to this call's write was lost.
    const row = isNew ? execution : await table.executions.get(wanted.tenant, wanted.id)
    if (row?.createdAt === now && row.fence === 0) await table.executions.remove(wanted.tenant, wanted.id)
    if (container === 'missing')
      throw new ServiceError('container_not_found', `No container "${wanted.containerId}" exists. Create one with POST /v1/containers.`)
    const { name, value, text } = place.maximum
    throw new ServiceError('too_many_queued', `Container ${wanted.containerId} ${text}`, { limit: { name, value, retryAfterSeconds: 1 } })
  }
  // The execution may start meanwhile; only the caller has to wait.
  await Promise.all([place.notify(queue, container, { id: wanted.id, now }), table.flush()])
  return { execution, container }
}
