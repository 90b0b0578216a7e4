import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Table } from '../../ports/table.ts'
import { SANDBOX_CHECK_MS } from './new-sandbox.ts'

/** Requests that a suspended sandbox continues; the execution that waits for it is notified. False: it is not suspended any more. */
export async function requestResume(
  { table, queue, clock }: { readonly table: Pick<Table, 'sandboxes'>; readonly queue: Queue; readonly clock: Clock },
  tenant: string,
  sandboxId: string,
): Promise<boolean> {
  const now = clock.now()
  const change = { state: 'starting', resumedAt: now, dueAt: now + SANDBOX_CHECK_MS } as const
  if ((await table.sandboxes.move(sandboxId, { from: ['suspended'] }, change)) === null) return false
  await queue.send('placements', { v: 1, type: 'sandbox.start', sandboxId }, { group: tenant })
  return true
}
