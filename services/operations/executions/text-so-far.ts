import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { LIMITS } from '../../model/limits.ts'
import type { EventStore } from '../../ports/event-store.ts'

const EVENTS_PER_READ = 500
/** Stored text of one stream: its head and tail. */
const MAX_CHARACTERS = LIMITS.maxStreamHeadBytes + LIMITS.maxStreamTailBytes

export interface StreamText {
  readonly stdout: string
  readonly stderr: string
}

/** What running code or a command has printed so far, from its event log; null for a row that has ended or has not started. */
export async function textSoFar(events: Pick<EventStore, 'read'>, row: Execution): Promise<StreamText | null> {
  if (row.startedAt === null || hasEnded(row.status)) return null
  const owner = { kind: 'execution', tenant: row.tenant, id: row.id } as const
  const texts = { stdout: '', stderr: '' }
  let after = 0
  for (;;) {
    const page = await events.read<ExecutionEvent>(owner, after, EVENTS_PER_READ)
    for (const event of page) {
      after = event.seq
      if (event.type === 'stdout' || event.type === 'stderr') texts[event.type] += event.text
    }
    const isFull = texts.stdout.length + texts.stderr.length > 2 * MAX_CHARACTERS
    if (page.length === 0 || isFull) return texts
  }
}
