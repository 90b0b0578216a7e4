import { describeCause } from '../../core/describe-cause.ts'
import { QUEUES, type QueueName } from '../../core/messages.ts'
import { createDeadLetterStep } from '../dead-letters.ts'
import { inTrace } from '../../core/trace.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { repairSandbox } from './repair-sandbox.ts'

/** Processes one sandbox whose task ended according to an event. A start in progress has its own observer, which reads the row. */
export async function handleTaskStateChange(deps: ReconcilerDeps, sandboxId: string): Promise<void> {
  const sandbox = await deps.table.sandboxes.get(sandboxId)
  if (sandbox?.state !== 'ready' && sandbox?.state !== 'claimed') return
  await repairSandbox(deps, { kind: 'sandbox', tenant: '_pool', id: sandboxId, dueAt: deps.clock.now() })
}

export interface DeadLetter {
  readonly messageId: string
  readonly body: string
  /** Ends with the name of its dead-letter queue. */
  readonly eventSourceARN: string
}

interface BatchFailures {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

/** Ends the jobs of dead letters. A message whose job cannot be ended yet stays in its queue and is redelivered. */
export async function processDeadLetters(deps: ReconcilerDeps, deadLetters: readonly DeadLetter[]): Promise<BatchFailures> {
  const endJob = createDeadLetterStep(deps)
  const failures: { itemIdentifier: string }[] = []
  for (const { messageId, body, eventSourceARN } of deadLetters) {
    try {
      await inTrace(null, () => endJob(queueOf(eventSourceARN), body))
    } catch (error) {
      deps.telemetry.emit({
        event: 'dead_letter',
        outcome: 'error',
        message: messageId,
        detail: describeCause(error),
      })
      failures.push({ itemIdentifier: messageId })
    }
  }
  return { batchItemFailures: failures }
}

function queueOf(deadLetterArn: string): QueueName {
  const queue = QUEUES.find((name) => deadLetterArn.endsWith(`${name}-dead`))
  if (queue === undefined) throw new Error(`${deadLetterArn} is no dead-letter queue of ours`)
  return queue
}
