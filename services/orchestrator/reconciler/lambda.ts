import type { SqsBatchAnswer } from '../../storage/sqs/lambda-batch.ts'
import { deps } from '../place/lambda.ts'
import { readTaskEvent } from '../drivers/fargate/task-event.ts'
import { reconcile, type Reconciled } from './reconcile.ts'
import { processDeadLetters, handleTaskStateChange, type DeadLetter } from './handle-task-state-change.ts'

/** What invokes the reconciler: dead letters, a task state change, or the schedule. */
interface ReconcilerEvent {
  readonly Records?: readonly DeadLetter[]
}

/** Without dead letters and without a task, one pass processes all due rows. */
export async function handler(event: ReconcilerEvent): Promise<SqsBatchAnswer | Reconciled | null> {
  if (event.Records !== undefined) return processDeadLetters(deps, event.Records)
  const change = readTaskEvent(event)
  if (change !== null) {
    await handleTaskStateChange(deps, change)
    return null
  }
  const outcome = await reconcile(deps)
  deps.telemetry.emit({ event: 'reconcile', outcome: outcome.failed === 0 ? 'ok' : 'error', ...outcome })
  return outcome
}
