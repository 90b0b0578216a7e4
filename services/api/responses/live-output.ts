import { CodeOutputReader } from '../../core/executions/code-output.ts'
import type { ResponseEvent } from '../../core/events.ts'
import type { Table } from '../../core/ports/table.ts'
import { hasLiveOutput, type ResponseRecord as ResponseRow } from '../../core/responses/response.ts'
import { loadResponse } from '../../core/responses/response-blobs.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * Reads what running code prints before the turn's next step writes it to the log: as the events that it is going to write, under the numbers
 * that they will have. The step that writes them works on the row; so what was read before the row was seen at rest is among what it writes.
 */
export function liveOutput(
  deps: Pick<ApiDeps, 'objects'> & { readonly table: Pick<Table, 'responses' | 'events'> },
): (row: ResponseRow, last: number) => Promise<readonly ResponseEvent[] | null> {
  let reader: CodeOutputReader | null = null
  /** Read, and held back while a worker held the row. */
  let waiting: ResponseEvent[] = []
  let nextSeq = 0
  return async (row, last) => {
    const { pending } = row
    // A reader that has not caught up with the log has no use for what follows it.
    if (pending === null) return null
    if (!hasLiveOutput(row) || last < row.nextSeq - 1) return []
    if (reader === null || reader.executionId !== pending.executionId) {
      const item = (await loadResponse(deps.objects, row)).items[pending.itemIndex]
      if (item === undefined) return []
      reader = new CodeOutputReader(deps.table.events, row.tenant, pending, item.id)
      waiting = []
      nextSeq = row.nextSeq
    }
    for (const fact of await reader.next(null)) waiting.push({ seq: nextSeq++, ...fact })
    const fresh = waiting.filter((event) => event.seq > last)
    if (fresh.length === 0) return []
    const now = await deps.table.responses.get(row.tenant, row.id)
    const isStillSo = now !== null && hasLiveOutput(now) && now.pending?.executionId === pending.executionId && now.nextSeq === row.nextSeq
    if (!isStillSo) return []
    waiting = []
    return fresh
  }
}
