import { notifyResponse } from '../notify/notify-response.ts'
import { topicOf } from '../../model/events.ts'
import { hasResponseEnded, type ResponseRecord as ResponseRow } from '../../model/responses/response.ts'
import { cancelExecution, type CancelPorts } from '../executions/cancel-execution.ts'

/** Requests the end of a turn and of the code that it waits for; idempotent. Returns the row, null when there is none. */
export async function cancelResponse(deps: CancelPorts, tenant: string, id: string): Promise<ResponseRow | null> {
  const row = await deps.table.responses.requestCancel(tenant, id, deps.clock.now())
  if (row === null || hasResponseEnded(row.status)) return row
  deps.signals.notify(topicOf('response', id))
  if (row.pending !== null) await cancelExecution(deps, { tenant, id: row.pending.executionId })
  await notifyResponse(deps.queue, { tenant, id })
  return row
}
