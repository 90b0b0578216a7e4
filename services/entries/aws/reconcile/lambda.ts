import { QUEUES } from '../../../model/messages.ts'
import { deadLetterUrl, drainDeadLetters } from '../../../adapters/storage/sqs/drain-dead-letters.ts'
import { createSqsClient } from '../../../adapters/storage/sqs/sqs-client.ts'
import { openPlatform } from '../platform.ts'
import { placeConfigFromEnv } from '../config.ts'
import { reconcile, type Reconciled } from '../../../workers/reconcile/reconcile.ts'
import { processDeadLetters } from '../../../workers/reconcile/dead-letters.ts'
import { handleTaskStateChange } from '../../../workers/reconcile/handle-task-state-change.ts'

const config = placeConfigFromEnv()
const { deployment, deps } = openPlatform(config)
const sqs = createSqsClient({ region: config.AWS_REGION })
const queueUrls = { turns: config.TURNS_QUEUE_URL, executions: config.EXECUTIONS_QUEUE_URL, placements: config.PLACEMENTS_QUEUE_URL }

/** An event of a task changes its sandbox. The schedule ends the jobs of dead letters, and one pass processes all due rows. */
export async function handler(event: unknown): Promise<Reconciled | null> {
  const change = deployment.readEvent(event)
  if (change !== null) {
    await handleTaskStateChange(deps, change)
    return null
  }
  // Neither may keep the other from its work.
  const [outcome, received] = await Promise.allSettled([reconcile(deps), endDeadLetters()])
  if (received.status === 'rejected') throw received.reason
  if (outcome.status === 'rejected') throw outcome.reason
  deps.telemetry.emit({ event: 'reconcile', outcome: outcome.value.failed === 0 ? 'ok' : 'error', ...outcome.value })
  return outcome.value
}

/** Receiving once a minute costs a twentieth of an event source mapping, whose pollers ask all day. */
async function endDeadLetters(): Promise<void> {
  for (const queue of QUEUES) {
    const queueUrl = deadLetterUrl(queueUrls[queue])
    await drainDeadLetters({ client: sqs, queueUrl }, async (messages) => {
      const deadLetters = messages.map((message) => ({ ...message, eventSourceARN: queueUrl }))
      const { batchItemFailures } = await processDeadLetters(deps, deadLetters)
      return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    })
  }
}
