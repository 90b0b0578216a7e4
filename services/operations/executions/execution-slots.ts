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
} from '../../model/executions/execution-share.ts'

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
