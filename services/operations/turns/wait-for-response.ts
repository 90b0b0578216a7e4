import { topicOf } from '../../model/events.ts'
import type { Subscription } from '../../ports/signals.ts'
import { hasResponseEnded, type ResponseRecord as ResponseRow } from '../../model/responses/response.ts'
import type { Table } from '../../ports/table.ts'
import type { Signals } from '../../ports/signals.ts'
import type { Clock } from '../../ports/clock.ts'
import { NO_HOLD, whileHeld, type Hold } from '../tenancy/hold.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'

/** Waits until a turn has ended, the client has disconnected, the hold is over or `seconds` have passed; releases the hold, and returns the row. */
export async function waitForResponse(
  deps: { readonly table: Pick<Table, 'responses'>; readonly signals: Signals; readonly clock: Clock },
  row: ResponseRow,
  options: { readonly seconds: number; readonly signal: AbortSignal; readonly hold?: Hold; readonly subscription?: Subscription },
): Promise<ResponseRow> {
  const subscription = options.subscription ?? deps.signals.subscribe(topicOf('response', row.id))
  try {
    return await waitForRow(subscription, {
      read: async () => (await deps.table.responses.poll(row.tenant, row.id)) ?? row,
      isDone: (current) => hasResponseEnded(current.status),
      first: row,
      now: () => deps.clock.now(),
      deadline: deps.clock.now() + options.seconds * 1000,
      signal: whileHeld(options.signal, options.hold ?? NO_HOLD),
    })
  } finally {
    subscription.close()
    await options.hold?.release()
  }
}
