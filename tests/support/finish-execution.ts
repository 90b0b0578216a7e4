import { topicOf } from '../../services/model/events.ts'
import type { ExecutionEvent } from '../../services/model/executions/execution-event.ts'
import type { Execution, ExecutionResult } from '../../services/model/executions/execution.ts'
import { newId } from '../../services/model/ids.ts'
import { LEASE_MS } from '../../services/jobs/lease.ts'
import type { TestApi } from './start-api.ts'

export const emptyResult: ExecutionResult = {
  cells: [{ index: 0, status: 'ok', executionCount: 1, outputs: [] }],
  stdout: '',
  stderr: '',
  error: null,
  files: [],
  lost: [],
  usage: { queueMs: 1, startMs: 2, runMs: 3, cpuMs: 4, peakMemoryBytes: 5, outputBytes: 6, sandboxSeconds: 0.5, costUsd: 0 },
}

/** Ends an execution as the run worker does: lease, events, one fenced commit, the container's queue, the signal. */
export async function finishExecution(
  api: Pick<TestApi, 'table' | 'signals'>,
  tenant: string,
  id: string,
  outcome: {
    readonly result?: Partial<ExecutionResult>
    readonly logged?: readonly ExecutionEvent[]
    /** Events stored in the row, before the last one. */
    readonly tail?: readonly ExecutionEvent[]
    /** The number of the last event, if the log was written before. */
    readonly doneSeq?: number
    readonly patch?: Partial<Pick<Execution, 'status' | 'reason'>>
  } = {},
): Promise<void> {
  const now = Date.now()
  const acquired = await api.table.executions.acquireLease({ tenant, id }, { owner: newId('worker'), now, expiresAt: now + LEASE_MS })
  if (acquired.kind !== 'acquired') throw new Error(`The execution is ${acquired.kind}`)
  const logged = outcome.logged ?? []
  const { fence, containerId } = acquired.row
  if (logged[0] !== undefined)
    await api.table.events.append({ kind: 'execution', tenant, id }, { firstSeq: logged[0].seq, events: logged, fence, sourceSeq: null })
  const status = outcome.patch?.status ?? 'succeeded'
  const reason = outcome.patch?.reason ?? null
  const done: ExecutionEvent = { seq: outcome.doneSeq ?? (logged.at(-1)?.seq ?? 0) + 1, at: now, type: 'done', status, reason }
  await api.table.executions.commit(
    { tenant, id, fence },
    {
      status,
      reason,
      startedAt: now,
      endedAt: now,
      result: { ...emptyResult, ...outcome.result },
      tailEvents: [...(outcome.tail ?? []), done],
    },
  )
  await api.table.containers.dequeue(tenant, containerId, { executionId: id, now, dueAt: now + 60_000 })
  api.signals.notify(topicOf('execution', id))
}

/** Resolves with the id of the next execution that appears at the head of a container. */
export async function headOf(api: Pick<TestApi, 'table'>, tenant: string, containerId: string): Promise<string> {
  for (;;) {
    const head = (await api.table.containers.get(tenant, containerId))?.queue[0]
    if (head !== undefined) return head
    await new Promise((resolve) => setImmediate(resolve))
  }
}
