import { topicOf } from '../../core/events.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import type { PendingCall } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'

/** A worker stays this long with code that it handed over, milliseconds: most code ends within it, and a queue takes longer than a look. */
const STAY_MS = 1_000
/** Clocks of two workers differ by less, milliseconds. */
const SKEW_MS = 200
/** A signal that got lost costs no more than this, milliseconds. */
const LOOK_AGAIN_MS = 250

/** The end of code that was handed over, as its worker waits for it. */
export interface AwaitedEnd {
  /** Who ends the execution before this time (epoch ms) need not tell of it. Null: nobody waits. */
  readonly until: number | null
  /** The execution once it has ended; null when it still ran at a look that came later than `until`, and when `signal` fires. */
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
      for (let left = stayMs; left > 0 && !signal.aborted; left = until + SKEW_MS - clock.now()) {
        const told = await subscription.next(Math.min(left, LOOK_AGAIN_MS))
        // A topic is about one row, so what it brings is that execution.
        const row = told === null ? await table.executions.get(tenant, executionId) : (told as Execution)
        if (row !== null && hasEnded(row.status)) return row
      }
      return null
    },
  }
}
