import { codeOfSignal } from '../../operations/executions/exit-code.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import { executionEvents, pagesSoFar } from '../../operations/executions/execution-events.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { HistoryGoneError } from './errors.ts'

interface Reading {
  readonly execId: string
  /** The number of the last event that the reader has; -1 for none. */
  readonly after: number
  /** Until the end of the command; otherwise only what the log has now. */
  readonly isFollowed: boolean
  readonly signal: AbortSignal
}

const line = (event: Readonly<Record<string, unknown>>): string => `${JSON.stringify(event)}\n`
/** Readers skip it. */
const KEEP_ALIVE = '\n'

/**
 * The events of a command as lines of JSON: `started` with number 0, its output with the numbers of its log, and `exit` or `error` last. A reader that
 * resumes with the last number that it has misses nothing and gets nothing twice.
 */
export async function* eventLines(
  deps: ApiDeps,
  row: Execution,
  { execId, after, isFollowed, signal }: Reading,
): AsyncGenerator<string, void, undefined> {
  if (after < 0) yield line({ seq: 0, type: 'started', exec_id: execId })
  const from = Math.max(0, after)
  const isComplete = isFollowed || hasEnded(row.status)
  const events = isComplete ? executionEvents(deps, row, { after: from, signal }) : eventsSoFar(deps, row, from)
  for await (const event of events) {
    if (event === null) yield KEEP_ALIVE
    else if (event.type === 'stdout' || event.type === 'stderr') yield line({ seq: event.seq, type: event.type, data: event.text })
    // The protocol has no other place for it.
    else if (event.type === 'lost') yield line({ seq: event.seq, type: 'stderr', data: `Not available: ${event.what}. ${event.reason}\n` })
    else if (event.type === 'done') yield line(await lastEvent(deps, row, event.seq))
  }
}

async function* eventsSoFar(deps: ApiDeps, row: Execution, after: number): AsyncGenerator<ExecutionEvent, void, undefined> {
  for await (const page of pagesSoFar(deps.table.events, row, after)) yield* page
}

/** Throws HistoryGoneError when the log begins after what the reader needs next. */
export async function checkHistory({ table }: Pick<ApiDeps, 'table'>, { tenant, id, tailEvents }: Execution, after: number): Promise<void> {
  const [first] = (await table.events.first({ kind: 'execution', tenant, id }))?.events ?? tailEvents
  if (first !== undefined && first.seq > Math.max(0, after) + 1) throw new HistoryGoneError()
}

/** How the command ended. An end that is not the program's own is an `error`. */
async function lastEvent(deps: ApiDeps, { tenant, id }: Execution, seq: number): Promise<Readonly<Record<string, unknown>>> {
  const row = await deps.table.executions.get(tenant, id)
  const result = row === null ? null : await loadResult(deps.objects, row)
  const timedOut = row?.status === 'timed_out'
  const signal = result?.exit?.signal ?? (timedOut || row?.status === 'cancelled' ? 'SIGKILL' : null)
  const code = result?.exit?.code ?? null
  if (row === null || (code === null && signal === null)) {
    const why = row === null ? 'its record is gone' : `${row.status}${row.reason === null ? '' : `, ${row.reason}`}`
    return { seq, type: 'error', error: `The command ended without an exit code (${why}). Run it again.` }
  }
  return {
    seq,
    type: 'exit',
    // As a shell has it.
    exit_code: code ?? codeOfSignal(signal ?? ''),
    success: code === 0 && !timedOut,
    execution_time_ms: Math.max(0, (row.endedAt ?? row.createdAt) - (row.startedAt ?? row.createdAt)),
    timed_out: timedOut,
    killed: signal !== null,
  }
}
