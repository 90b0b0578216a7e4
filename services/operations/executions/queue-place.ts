import { expectedWaitMs, slotPosition, type ExecutionShare } from '../../model/executions/execution-share.ts'
import { readShare } from './execution-slots.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { Table } from '../../ports/table.ts'
import type { Clock } from '../../ports/clock.ts'

export interface QueuePlace {
  /** Executions before it: in its container, and in its account when that runs as many as it may. */
  readonly position: number
  /** Epoch ms; null without an execution of the account to estimate from. */
  readonly expectedStartAt: number | null
}

/** The place of an execution that waits; null when it does not. What the caller does not know is read: the container's queue, the tenant's share. */
export async function queuePlace(
  { table, clock }: { readonly table: Table; readonly clock: Clock },
  row: Execution,
  known: { readonly queue?: readonly string[]; readonly share?: ExecutionShare } = {},
): Promise<QueuePlace | null> {
  const mayWait = row.status === 'queued' || (row.status === 'starting' && row.sandboxId === null)
  if (!mayWait) return null
  const [ids, share] = await Promise.all([
    known.queue ?? table.containers.get(row.tenant, row.containerId).then((container) => container?.queue ?? []),
    known.share ?? readShare(table.sharedRows, row.tenant),
  ])
  const [head] = ids
  const inContainer = ids.indexOf(row.id)
  if (head === undefined || inContainer === -1) return null
  const inAccount = slotPosition(share, head)
  // It waits for its sandbox only.
  if (row.status === 'starting' && inAccount === null) return null
  const waitMs = expectedWaitMs(share, inContainer, inAccount)
  return { position: inContainer + (inAccount ?? 0), expectedStartAt: waitMs === null ? null : Math.round(clock.now() + waitMs) }
}
