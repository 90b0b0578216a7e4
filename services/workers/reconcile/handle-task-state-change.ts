import { describeCause } from '../../model/describe-cause.ts'
import { QUEUES, type QueueName } from '../../model/messages.ts'
import type { SandboxChange } from '../../ports/sandbox-driver.ts'
import { createDeadLetterStep } from './dead-letters.ts'
import { inTrace } from '../../model/trace.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { notifyWaiting } from '../place/notify-waiting.ts'
import { settleStart } from '../place/start-sandbox.ts'
import { endSandbox } from '../place/repair-sandbox.ts'

/**
 * Applies an event of a sandbox that started to run or ended. The event contains the whole status, so no call of the platform is needed. Events may
 * arrive twice and in any order: each changes a row only in the state before it.
 */
export async function handleTaskStateChange(deps: ReconcilerDeps, { sandboxId, platformId, status }: SandboxChange): Promise<void> {
  if (status.phase === 'starting') return
  const row = await deps.table.sandboxes.get(sandboxId)
  if (row === null) return
  const sandbox = { ...row, platformId }
  if (sandbox.state === 'starting') {
    const settled = await settleStart(deps, sandbox, status, sandbox.launchedAt ?? sandbox.createdAt)
    await notifyWaiting(deps, settled ?? sandbox, settled === null ? 'failed' : 'running')
  } else if (status.phase === 'gone' && (sandbox.state === 'ready' || sandbox.state === 'claimed')) await endSandbox(deps, sandbox, status)
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
