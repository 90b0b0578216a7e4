import type { Clock } from '../../ports/clock.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import { SharedRow } from '../tenancy/shared-row.ts'
import {
  EMPTY_SHARE,
  enterShare,
  leaveShare,
  slotPosition,
  type ExecutionShare,
  type WaitingExecution,
  expectedWaitMs,
} from '../../model/executions/execution-share.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { Table } from '../../ports/table.ts'

/** The counter of a tenant's running executions. */
const NAME = 'executions'

/** How many executions of a tenant run at once. A process that handles many of them keeps one object, which then needs no reads. */
export class ExecutionSlots {
  readonly #shares: SharedRow<ExecutionShare>
  readonly #clock: Clock

  constructor({ table, clock }: { readonly table: { readonly sharedRows: SharedRowStore }; readonly clock: Clock }) {
    this.#shares = new SharedRow(table.sharedRows, NAME, EMPTY_SHARE)
    this.#clock = clock
  }

  /** Whether the execution may run now. Otherwise it waits: the end of another execution of the tenant admits it. */
  request(tenant: string, entry: WaitingExecution, cap: number): Promise<boolean> {
    return this.#shares.change(tenant, (share) => {
      const values = enterShare(share, entry, { cap, now: this.#clock.now() })
      return { values, result: entry.executionId in values.running }
    })
  }

  /** Ends the execution's claim to a slot. Returns the executions that got a slot by it and have to be notified. Idempotent. */
  release(tenant: string, executionId: string): Promise<readonly WaitingExecution[]> {
    return this.#shares.change(tenant, (share) => {
      const isKnown = executionId in share.running || share.waiting.some((entry) => entry.executionId === executionId)
      if (!isKnown) return { values: share, result: [] }
      const { share: values, admitted } = leaveShare(share, executionId, this.#clock.now())
      return { values, result: admitted }
    })
  }

  /** Executions of the tenant before this one in the order of slots; null when it does not wait for a slot. */
  async position(tenant: string, executionId: string): Promise<number | null> {
    return slotPosition(await this.#shares.read(tenant), executionId)
  }
}

/** The running and waiting executions of a tenant. */
export const readShare = async (sharedRows: SharedRowStore, tenant: string): Promise<ExecutionShare> =>
  (await sharedRows.get<ExecutionShare>(tenant, NAME)).values ?? EMPTY_SHARE

export interface QueuePlace {
  /** Executions before it: in its container, and in its account when that runs as many as it may. */
  readonly position: number
  /** Epoch ms; null without an execution of the account to estimate from. */
  readonly expectedStartAt: number | null
}

/** The place of an execution that waits; null when it does not. What the caller does not know is read: the container's queue, the tenant's share. */
export async function queuePlace(
  { table, clock }: { readonly table: Pick<Table, 'containers' | 'sharedRows'>; readonly clock: Clock },
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
