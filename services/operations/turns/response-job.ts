import { leaveConversation } from './conversation-queue.ts'
import { topicOf } from '../../model/events.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Signals } from '../../ports/signals.ts'
import type { Table } from '../../ports/table.ts'
import { notifyResponse } from '../notify/notify-response.ts'
import { EXTENSION_EVENT, extensionData } from '../../model/responses/extension-event.ts'
import { hasEventStream, type ResponseRecord } from '../../model/responses/response.ts'
import { fenceEventLog } from '../../jobs/fence-event-log.ts'
import type { Job } from '../../jobs/job.ts'
import { publishResponseEnd } from '../webhooks/publish-event.ts'
import { reviewAt } from '../webhooks/review-at.ts'

interface ResponseJobDeps {
  readonly table: Table
  readonly queue: Queue
  readonly clock: Clock
  readonly signals: Signals
}

/** A chat turn as the engine sees it. */
export const responseJob = (deps: ResponseJobDeps): Job<ResponseRecord> => ({
  rows: deps.table.responses,
  enqueue: ({ tenant, id }, delaySeconds) => notifyResponse(deps.queue, { tenant, id }, delaySeconds),
  endAsDeadLetter: (row) => endAsDeadLetter(deps, row),
})

const DEAD_LETTER = {
  code: 'dead_letter',
  message:
    'Processing of this response failed after all retries. Send the request again; if it fails again, report the id of this response.',
} as const

async function endAsDeadLetter(deps: ResponseJobDeps, row: ResponseRecord): Promise<void> {
  const { table, clock, signals } = deps
  const { tenant, id, fence } = row
  if (hasEventStream(row)) {
    const payload = { type: EXTENSION_EVENT, data: extensionData('taken_over', {}) }
    await fenceEventLog({ events: table.events, clock }, { kind: 'response', tenant, id }, { fence, payload, tail: row.tailEvents })
  }
  const completedAt = clock.now()
  const end = { status: 'failed', error: DEAD_LETTER, completedAt } as const
  const ended = await table.responses.commit({ tenant, id, fence }, end, { removeAt: await reviewAt(deps, row, completedAt) })
  signals.notify(topicOf('response', id))
  await leaveConversation({ conversations: table.conversations, queue: deps.queue }, { ...row, status: 'failed' }, row.containerId).catch(
    () => undefined,
  )
  if (ended !== null) await publishResponseEnd(deps, ended).catch(() => undefined)
}
