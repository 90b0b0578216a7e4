import type { ApiDeps } from '../../../deps.ts'
import { followLog } from '../../../http/follow-log.ts'
import { SSE_COMMENT, sseFrame } from '../../../http/sse.ts'
import { eventRenderer } from './serialize.ts'
import { topicOf, type ExecutionEvent } from '../../../../core/events.ts'
import { hasEnded, type Execution } from '../../../../core/executions/execution.ts'

/**
 * The events of an execution with numbers above `after`, as SSE frames, until `done`. Number 0 is not in the log: it says that the row
 * was accepted, which the row says itself.
 */
export async function* executionFrames(
  deps: Pick<ApiDeps, 'table' | 'signals' | 'objects' | 'clock' | 'config'>,
  row: Execution,
  options: { readonly after: number; readonly publicUrl: string; readonly signal: AbortSignal },
): AsyncGenerator<string, void, undefined> {
  const render = eventRenderer(deps, row, options.publicUrl)
  const frame = async (event: ExecutionEvent): Promise<string> => sseFrame({ id: event.seq, event: event.type, data: await render(event) })
  if (options.after < 0) yield frame({ seq: 0, at: row.createdAt, type: 'status', status: 'queued' })
  const log = followLog<Execution, ExecutionEvent>({
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
  for await (const event of log) yield event === null ? SSE_COMMENT : await frame(event)
}
