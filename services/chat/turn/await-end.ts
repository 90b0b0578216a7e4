import { topicOf } from '../../core/events.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import type { PendingCall } from '../../core/responses/response.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'
import type { TurnDeps } from '../deps.ts'

/** A worker stays this long with code that it handed over, milliseconds: most code ends within it, and a queue takes longer than a read. */
const STAY_MS = 1_000
/** Clocks of two workers differ by less, milliseconds. */
const SKEW_MS = 200
/** A lost signal costs no more than this, milliseconds. */
const POLL_MS = 250

/** The end of code that was handed over, as its worker waits for it. */
export interface AwaitedEnd {
  /** A worker that ends the execution before this time (epoch ms) need not send a message. Null: no worker waits. */
  readonly until: number | null
  /** The execution once it has ended; null when it still ran at a read that came later than `until`, and when `signal` aborts. */
  wait(signal: AbortSignal): Promise<Execution | null>
  close(): void
}

/** Listens from now on, so it is called before the execution is accepted. */
export function awaitEnd(deps: TurnDeps, tenant: string, { executionId }: PendingCall): AwaitedEnd {
  const { signals, clock, table, stayMs = STAY_MS } = deps
  const until = clock.now() + stayMs
  const subscription = signals.subscribe(topicOf('execution', executionId))
  return {
    until: stayMs === 0 ? null : until,
    close: () => subscription.close(),
    async wait(signal) {
      if (stayMs === 0) return null
      const read = (): Promise<Execution | null> => table.executions.get(tenant, executionId)
      const isDone = ({ status }: Execution): boolean => hasEnded(status)
      const limits = { now: () => clock.now(), deadline: until + SKEW_MS, signal, pollMs: POLL_MS }
      const row = await waitForRow<Execution, null>(subscription, read, isDone, limits, null)
      return row !== null && hasEnded(row.status) ? row : null
    },
  }
}
