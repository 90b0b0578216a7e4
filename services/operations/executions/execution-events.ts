import { topicOf } from '../../model/events.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import { withoutNull } from '../../model/executions/event-schema.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import type { Table } from '../../ports/table.ts'
import { followLog, type LogPorts } from '../../jobs/follow-log.ts'
import { LIMITS } from '../../model/limits.ts'
import type { EventStore } from '../../ports/event-store.ts'

/**
 * The events of an execution or a command with numbers above `after`, until `done`; null when nothing happened for a heartbeat. Number 0 is not
 * in the log: it reports the acceptance, which follows from the row. `isExact`: printed text keeps its NUL.
 */
export async function* executionEvents(
  deps: LogPorts & { readonly table: Pick<Table, 'executions'> },
  row: Execution,
  options: { readonly after: number; readonly signal: AbortSignal; readonly isExact?: boolean },
): AsyncGenerator<ExecutionEvent | null, void, undefined> {
  if (options.after < 0) yield { seq: 0, at: row.createdAt, type: 'status', status: 'queued' }
  const events = followLog<Execution, ExecutionEvent>({
    ...deps,
    owner: { kind: 'execution', tenant: row.tenant, id: row.id },
    topic: topicOf('execution', row.id),
    read: () => deps.table.executions.get(row.tenant, row.id),
    hasEnded: (current) => hasEnded(current.status),
    after: Math.max(0, options.after),
    signal: options.signal,
    lastOf: (current, seq) => ({
      seq,
      at: current.endedAt ?? current.createdAt,
      type: 'done',
      status: current.status,
      reason: current.reason,
    }),
    isLast: (event) => event.type === 'done',
  })
  for await (const event of events) yield event === null || options.isExact === true ? event : printable(event)
}

const printable = (event: ExecutionEvent): ExecutionEvent =>
  event.type === 'stdout' || event.type === 'stderr' ? { ...event, text: withoutNull(event.text) } : event

const EVENTS_PER_READ = 500
/** Stored text of one stream: its head and tail. */
const MAX_CHARACTERS = LIMITS.maxStreamHeadBytes + LIMITS.maxStreamTailBytes

export interface StreamText {
  readonly stdout: string
  readonly stderr: string
}

/** The events after this number that the log has now, in pages. */
export async function* pagesSoFar(
  events: Pick<EventStore, 'read'>,
  { tenant, id }: Pick<Execution, 'tenant' | 'id'>,
  after: number,
): AsyncGenerator<readonly ExecutionEvent[], void, undefined> {
  for (let last = after; ;) {
    const page = await events.read<ExecutionEvent>({ kind: 'execution', tenant, id }, last, EVENTS_PER_READ)
    const end = page.at(-1)
    if (end === undefined) return
    yield page.map(printable)
    last = end.seq
  }
}

/** What running code or a command has printed so far, from its event log; null for a row that has ended or has not started. */
export async function textSoFar(events: Pick<EventStore, 'read'>, row: Execution): Promise<StreamText | null> {
  if (row.startedAt === null || hasEnded(row.status)) return null
  const texts = { stdout: '', stderr: '' }
  for await (const page of pagesSoFar(events, row, 0)) {
    for (const event of page) if (event.type === 'stdout' || event.type === 'stderr') texts[event.type] += event.text
    if (texts.stdout.length + texts.stderr.length > 2 * MAX_CHARACTERS) break
  }
  return texts
}
