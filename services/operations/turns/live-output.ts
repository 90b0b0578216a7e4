import { JobOutputReader, showsOutput } from '../executions/job-output.ts'
import type { ResponseEvent } from '../../model/events.ts'
import type { Table } from '../../ports/table.ts'
import { hasLiveOutput, type ResponseRecord as ResponseRow } from '../../model/responses/response.ts'
import { loadResponse } from './response-blobs.ts'
import type { ObjectStore } from '../../ports/object-store.ts'

/**
 * Reads what a pending job prints before the turn's next step writes it to the log, as the same events with the same numbers. A reader sends them only after
 * it has seen the row without an active writer, because the next step then writes at least these events.
 */
export function liveOutput(
  deps: { readonly objects: ObjectStore } & { readonly table: Pick<Table, 'responses' | 'events'> },
): (row: ResponseRow, last: number) => Promise<readonly ResponseEvent[] | null> {
  let reader: JobOutputReader | null = null
  /** Events that were read and are held back while a worker holds the row. */
  let waiting: ResponseEvent[] = []
  let nextSeq = 0
  return async (row, last) => {
    const { pending } = row
    // A reader that has not reached the end of the log needs no later events.
    if (pending === null || !showsOutput(row, pending)) return null
    if (!hasLiveOutput(row) || last < row.nextSeq - 1) return []
    if (reader === null || reader.executionId !== pending.executionId) {
      const item = (await loadResponse(deps.objects, row)).items[pending.outputIndex]
      if (item === undefined) return []
      reader = new JobOutputReader(deps.table.events, { tenant: row.tenant, call: pending, item })
      waiting = []
      nextSeq = row.nextSeq
    }
    for (const payload of await reader.next(null)) waiting.push({ seq: nextSeq++, ...payload })
    const fresh = waiting.filter((event) => event.seq > last)
    if (fresh.length === 0) return []
    const now = await deps.table.responses.get(row.tenant, row.id)
    const isStillSo = now !== null && hasLiveOutput(now) && now.pending?.executionId === pending.executionId && now.nextSeq === row.nextSeq
    if (!isStillSo) return []
    waiting = []
    return fresh
  }
}
