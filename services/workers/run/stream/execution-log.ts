import { topicOf } from '../../../model/events.ts'
import type { ExecutionProgressPayload } from '../../../model/executions/events/event-types.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import { EventLogWriter } from '../../../jobs/event-log-writer.ts'
import { fenceEventLog } from '../../../jobs/fence-event-log.ts'
import type { RunDeps } from '../../deps.ts'
import { mergeText } from './merge-text.ts'

/** The event log of an execution, open for one step. */
export interface ExecutionLog {
  readonly writer: EventLogWriter<ExecutionProgressPayload>
  /** Supervisor events up to this number are in the log already; −1 for none. */
  readonly storedThrough: number
}

const RUNNING = { type: 'status', status: 'running' } as const

/** A log that a predecessor wrote is fenced first. `onBroken`: another worker writes it, or it cannot be written. */
export async function openExecutionLog(
  { table, clock, signals }: Pick<RunDeps, 'table' | 'clock' | 'signals'>,
  row: Execution,
  { isResumed, onBroken }: { readonly isResumed: boolean; readonly onBroken: () => void },
): Promise<ExecutionLog> {
  const owner = { kind: 'execution', tenant: row.tenant, id: row.id } as const
  const last = isResumed
    ? await fenceEventLog<ExecutionProgressPayload>({ events: table.events, clock }, owner, { fence: row.fence, payload: RUNNING })
    : null
  const writer = new EventLogWriter<ExecutionProgressPayload>({
    fence: row.fence,
    nextSeq: (last?.events.at(-1)?.seq ?? 0) + 1,
    sourceSeq: last?.sourceSeq ?? null,
    now: () => clock.now(),
    merge: mergeText,
    log: {
      append: (batch) => table.events.append(owner, batch),
      written: () => signals.notify(topicOf('execution', row.id)),
      broken: onBroken,
    },
  })
  if (last === null) writer.emit(RUNNING, 'deferred')
  return { writer, storedThrough: last?.sourceSeq ?? -1 }
}
