import type { SqsBatchAnswer } from '../../storage/sqs/lambda-batch.ts'
import { deps } from '../place/lambda.ts'
import { reconcile, type Reconciled } from './reconcile.ts'
import { processDeadLetters, handleTaskStateChange, type DeadLetter } from './handle-task-state-change.ts'

/** What wakes the reconciler: dead letters, a sandbox that ends, or the schedule. */
interface Woken {
  readonly Records?: readonly DeadLetter[]
  readonly kind?: 'pass' | 'sandbox'
  readonly sandboxId?: string
}

/** Without dead letters and without a sandbox's id, one pass processes all due rows. */
export async function handler(event: Woken): Promise<SqsBatchAnswer | Reconciled | null> {
  if (event.Records !== undefined) return processDeadLetters(deps, event.Records)
  if (event.kind === 'sandbox' && event.sandboxId !== undefined) {
    await handleTaskStateChange(deps, event.sandboxId)
    return null
  }
  const outcome = await reconcile(deps)
  deps.telemetry.emit({ event: 'reconcile', outcome: outcome.failed === 0 ? 'ok' : 'error', ...outcome })
  return outcome
}
