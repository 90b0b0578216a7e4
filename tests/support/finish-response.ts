import { topicOf, type ResponseEvent } from '../../services/model/events.ts'
import { newId } from '../../services/model/ids.ts'
import { LEASE_MS } from '../../services/jobs/lease.ts'
import { terminalEventOf, type ResponseRecord as ResponseRow, type ResponseStatus } from '../../services/model/responses/response.ts'
import { renderResponse } from '../../services/model/responses/render-response.ts'
import type { TestApi } from './start-api.ts'
import type { ResponseItem } from '../../services/model/responses/items/item-types.ts'

export const textItem = (text: string): ResponseItem => ({
  type: 'message',
  id: newId('message'),
  status: 'completed',
  text,
  citations: [],
  phase: 'final_answer',
  isRefusal: false,
})

/** Ends a turn as the chat worker does: lease, first events into the log, the last ones with the row, one fenced commit, the signal. */
export async function finishResponse(
  api: Pick<TestApi, 'table' | 'signals'>,
  tenant: string,
  id: string,
  outcome: { readonly status?: ResponseStatus; readonly items?: readonly ResponseItem[] } = {},
): Promise<void> {
  const now = Date.now()
  const owner = { kind: 'response' as const, tenant, id }
  const acquired = await api.table.responses.acquireLease(
    { tenant, id },
    { owner: newId('worker'), now, expiresAt: now + LEASE_MS },
    { status: 'in_progress' },
  )
  if (acquired.kind !== 'acquired') throw new Error(`The response is ${acquired.kind}`)
  const { row } = acquired
  const render = (change: Partial<ResponseRow>): Record<string, unknown> => ({
    response: renderResponse({ ...row, ...change }, { include: [] }),
  })
  const events: ResponseEvent[] = ['response.created', 'response.in_progress'].map((type, seq) => ({
    seq,
    at: now,
    type,
    data: render({}),
  }))
  await api.table.events.append(owner, { firstSeq: 0, events, fence: row.fence, sourceSeq: null })
  api.signals.notify(topicOf('response', id))
  const status = outcome.status ?? 'completed'
  const change = { status, items: outcome.items ?? [textItem('Hello')], completedAt: now }
  const tailEvents: ResponseEvent[] = [
    {
      seq: 2,
      at: now,
      type: 'response.output_text.delta',
      data: { item_id: 'msg', output_index: 0, content_index: 0, delta: 'Hello', logprobs: [] },
    },
    { seq: 3, at: now, type: terminalEventOf(status), data: render(change) },
  ]
  await api.table.responses.commit({ tenant, id, fence: row.fence }, { ...change, nextSeq: 4, tailEvents })
  api.signals.notify(topicOf('response', id))
}
