import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { LEASE_MS } from '../../jobs/lease.ts'
import { SANDBOX_CHECK_MS } from '../../operations/sandboxes/new-sandbox.ts'
import type { LeasedStore } from '../../ports/leased-store.ts'
import type { Table } from '../../ports/table.ts'
import { hasResponseEnded, type ResponseRecord } from '../../model/responses/response.ts'
import { SANDBOX_STATES } from '../../model/sandboxes/sandbox.ts'

/** Larger than the queues of one server; further rows are found when they are due. */
const MAX_ROWS = 20_000

/** Maximum distance of `dueAt` in a row that a worker has just processed, milliseconds. */
const SOON_MS = Math.max(LEASE_MS, RECONCILE_AFTER_MS, SANDBOX_CHECK_MS)

/**
 * Makes every job and sandbox of a previous server due immediately. The owner of the storage's lock knows that all lease holders are dead,
 * so it need not wait for the leases to expire; fencing tokens would reject a live holder. Returns the number of jobs.
 */
export async function takeOverJobs(table: Pick<Table, 'due' | 'executions' | 'responses' | 'sandboxes'>, now: number): Promise<number> {
  let jobs = 0
  for (const { kind, tenant, id } of await table.due(now + SOON_MS, MAX_ROWS)) {
    if (kind === 'execution') {
      const row = await table.executions.get(tenant, id)
      if (row !== null && !hasEnded(row.status)) jobs += await makeDue(table.executions, row, now)
    } else if (kind === 'response') {
      const row = await table.responses.get(tenant, id)
      if (row !== null && !hasResponseEnded(row.status)) jobs += await makeDue(table.responses, row, now)
    } else if (kind === 'sandbox') {
      await table.sandboxes.move(id, { from: SANDBOX_STATES }, { dueAt: now })
    }
  }
  return jobs
}

async function makeDue<Row extends Execution | ResponseRecord>(store: LeasedStore<Row>, row: Row, now: number): Promise<1> {
  if (row.lease === null) await store.postpone(row.tenant, row.id, now)
  else await store.commit(row, {}, { release: true, dueAt: now })
  return 1
}
