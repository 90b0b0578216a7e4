import { setImmediate } from 'node:timers/promises'
import { freeSlot } from './free-slot.ts'
import type { ExecutionSlots } from './execution-slots.ts'
import { notifyQueueHead } from '../notify/notify-execution.ts'
import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import { notifyResponse } from '../notify/notify-response.ts'
import { topicOf } from '../../model/events.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import type { ExecutionProgressPayload } from '../../model/executions/events/event-types.ts'
import type { Execution, ExecutionReason, ExecutionResult, ExecutionStatus, ExecutionUsage } from '../../model/executions/execution.ts'
import { canMove } from '../../model/executions/execution.ts'
import { workKindOf } from '../../model/executions/work-kinds.ts'
import { recordUsage } from '../usage/record-usage.ts'
import { newObjectKey } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Signals } from '../../ports/signals.ts'
import type { Table } from '../../ports/table.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import { WORK_PLACES } from './work-places.ts'
import type { LogTail } from '../../jobs/event-log-writer.ts'
import { commitLease } from '../../jobs/lease.ts'
import { publishExecutionEnd } from '../webhooks/publish-event.ts'

export interface EndDeps {
  readonly table: Table
  readonly queue: Queue
  readonly signals: Signals
  readonly objects: ObjectStore
  readonly clock: Clock
  readonly telemetry: Telemetry
  /** The slots that a run step keeps; absent in a process that ends few executions. */
  readonly slots?: ExecutionSlots
}

/**
 * A larger result is stored as an object, and a larger tail of events in the log: a DynamoDB item has at most 400 KB, of which code may
 * use 200. Bytes of JSON.
 */
const MAX_INLINE_JSON_BYTES = 96 * 1024
export const MAX_INLINE_TAIL_BYTES = 48 * 1024
/** Maximum size of the variable parts of a row together, bytes of JSON. The rest of the 400 KB is for names and small fields. */
const MAX_ROW_JSON_BYTES = 340 * 1024

export interface End {
  readonly status: ExecutionStatus
  readonly reason: ExecutionReason | null
  readonly result: ExecutionResult
  /** The events that the log does not have. */
  readonly tail: LogTail<ExecutionProgressPayload>
  readonly startedAt?: number
  /** The trace id that the sandbox reports. */
  readonly sandboxTraceId?: string | null
}

/**
 * Commits the one terminal state and the event `done` in one write with the fencing token, notifies waiters, and enqueues the container's next execution.
 * Nothing else creates `done`, so its status is always that of the row. Throws LeaseLostError.
 */
export async function endExecution(deps: EndDeps, row: Execution, end: End): Promise<Execution> {
  if (!canMove(row.status, end.status)) throw new Error(`An execution cannot go from ${row.status} to ${end.status}`)
  const endedAt = deps.clock.now()
  const { status, reason } = end
  const done = { seq: end.tail.nextSeq, at: endedAt, type: 'done', status, reason } as const
  const tailEvents: readonly ExecutionEvent[] = [...end.tail.events, done]
  const json = JSON.stringify(end.result)
  const besides = end.tail.bytes + Buffer.byteLength(JSON.stringify([row.source, row.metadata, row.lostBefore, done]))
  const isInline = Buffer.byteLength(json) <= Math.min(MAX_INLINE_JSON_BYTES, MAX_ROW_JSON_BYTES - besides)
  const resultRef = isInline ? null : await store(deps.objects, row, json)
  const patch = {
    status,
    reason,
    result: isInline ? end.result : null,
    resultRef,
    tailEvents,
    endedAt,
    ...(end.startedAt === undefined ? {} : { startedAt: end.startedAt }),
  }
  const ended = await commitLease(deps.table.executions, row, { patch })
  emitEnd(deps, ended, end)
  await publishCompletion(deps, ended, end.result.usage)
  return ended
}

/** The one wide event of an execution, for every way it ends. */
function emitEnd({ telemetry }: EndDeps, row: Execution, { result, sandboxTraceId }: End): void {
  telemetry.emit({
    event: 'execution',
    outcome: row.status,
    reason: row.reason,
    tenant: row.tenant,
    execution: row.id,
    container: row.containerId,
    response_id: row.responseId,
    sandbox: row.sandboxId,
    fence: row.fence,
    queue_wait_ms: (row.startedAt ?? row.createdAt) - row.createdAt,
    start_ms: result.usage.startMs,
    run_ms: result.usage.runMs,
    cpu_ms: result.usage.cpuMs,
    peak_memory_bytes: result.usage.peakMemoryBytes,
    output_bytes: result.usage.outputBytes,
    total_ms: (row.endedAt ?? row.createdAt) - row.createdAt,
    ...(sandboxTraceId === undefined ? {} : { sandbox_trace_id: sandboxTraceId }),
  })
}

/** The actions after an end. They may be repeated; the reconciler repeats them after a crash. */
export async function publishCompletion(
  deps: Omit<EndDeps, 'telemetry'>,
  ended: Execution,
  usage: ExecutionUsage | null = null,
): Promise<void> {
  deps.signals.notify(topicOf('execution', ended.id), ended)
  // Waiters in this process resume first.
  await setImmediate()
  const isFirst = usage !== null
  await Promise.all([
    freeSlot(deps, ended.tenant, ended.id),
    // Before it leaves the queue: a repetition after a crash finds it there.
    publishExecutionEnd(deps, ended)
      .then(() => recordUsage(deps, ended, usage))
      .then(() => advanceContainer(deps, ended, isFirst)),
    notifyTurn(deps, ended),
  ])
}

async function advanceContainer(deps: Omit<EndDeps, 'objects' | 'telemetry'>, ended: Execution, isFirst: boolean): Promise<void> {
  const now = deps.clock.now()
  // The acceptance set the container's due time. While it is in the future it also covers the next execution; a change would cost two index writes.
  const dueAt = now < ended.createdAt + RECONCILE_AFTER_MS ? null : now + RECONCILE_AFTER_MS
  const { containers } = deps.table
  if (!(await WORK_PLACES[workKindOf(ended).name].leave(containers, ended, now))) return
  const without = await containers.dequeue(ended.tenant, ended.containerId, { executionId: ended.id, now, dueAt })
  // The storage client repeats a write whose reply was lost. A refused write may therefore have succeeded in this call, and then no other worker enqueues.
  const container = without ?? (isFirst ? await containers.get(ended.tenant, ended.containerId) : null)
  if (container !== null) await notifyQueueHead(deps.queue, container, { executionId: container.queue[0], now })
}

async function notifyTurn(deps: Omit<EndDeps, 'objects' | 'telemetry'>, ended: Execution): Promise<void> {
  if (ended.responseId === null) return
  // The clock is read after the commit, because the turn's worker reads the execution again after `awaitedUntil`.
  if (ended.awaitedUntil !== undefined && deps.clock.now() < ended.awaitedUntil) return
  // If the message is lost, the reconciler repairs it: the response's row is due.
  await notifyResponse(deps.queue, { tenant: ended.tenant, id: ended.responseId })
}

async function store(objects: ObjectStore, row: Execution, json: string): Promise<{ objectKey: string; bytes: number }> {
  const objectKey = newObjectKey(row.tenant, 'results', row.containerId)
  const { bytes } = await objects.put(objectKey, Buffer.from(json), { contentType: 'application/json' })
  return { objectKey, bytes }
}
