import { topicOf } from '../../core/events.ts'
import type { Execution } from '../../core/executions/execution.ts'
import type { RunDeps } from '../deps.ts'

const LOOK_EVERY_MS = 1_000

/** Looks at the row while the code runs and interrupts it once when somebody asked for that. */
export function watchCancel(deps: Pick<RunDeps, 'signals' | 'table'>, row: Execution, interrupt: () => Promise<void>): { close(): void } {
  const subscription = deps.signals.subscribe(topicOf('execution', row.id))
  let isClosed = false
  const watch = async (): Promise<void> => {
    while (!isClosed) {
      await subscription.next(LOOK_EVERY_MS)
      if (isClosed) return
      const present = await deps.table.executions.get(row.tenant, row.id).catch(() => null)
      if (isClosed || (present !== null && present.cancelRequestedAt === null)) continue
      if (present === null) continue
      // An interrupt that does not get through is tried again at the next look.
      const isDone = await interrupt().then(
        () => true,
        () => false,
      )
      if (isDone) return
    }
  }
  void watch()
  return {
    close: () => {
      isClosed = true
      subscription.close()
    },
  }
}
