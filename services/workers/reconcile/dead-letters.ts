import { ExecutionMessage, TurnMessage, WebhookMessage, type QueueName } from '../../model/messages.ts'
import { failAsDeadLetter, type DeadLetterOutcome } from '../../jobs/dead-letter.ts'
import { responseJob } from '../../operations/turns/response-job.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { giveUpHibernation } from './give-up-hibernation.ts'
import { executionJob } from '../../operations/executions/execution-job.ts'

/**
 * Handles a message that failed every time: the job it names ends `failed` with the reason `dead_letter`, and a container whose variables could
 * not be saved loses its sandbox. A message that names neither is reported and dropped. A job that ended meanwhile stays as it is. Throws when
 * the job is busy.
 */
export function createDeadLetterStep(deps: ReconcilerDeps): (queue: QueueName, body: string) => Promise<void> {
  return async (queue, body) => {
    const message = parse(body)
    const outcome = message === null ? null : await fail(deps, message)
    if (outcome === 'busy') throw new Error('Another worker holds this job. Retry later.')
    deps.telemetry.emit({
      event: 'dead_letter',
      outcome: outcome === null ? 'unknown_message' : 'job_failed',
      queue,
      tenant: message?.tenant ?? null,
      job: message === null ? null : jobOf(message),
      bytes: body.length,
    })
  }
}

type JobMessage = ExecutionMessage | TurnMessage | WebhookMessage

async function fail(deps: ReconcilerDeps, message: JobMessage): Promise<DeadLetterOutcome> {
  switch (message.type) {
    case 'container.hibernate':
      return giveUpHibernation(deps, message)
    case 'execution.step':
      return failAsDeadLetter(deps, executionJob(deps), message.tenant, message.executionId)
    case 'response.step':
      return failAsDeadLetter(deps, responseJob(deps), message.tenant, message.responseId)
    case 'webhook.deliver':
      // Its row is due by itself and has retries of 24 hours.
      return 'ended'
  }
}

function jobOf(message: JobMessage): string {
  switch (message.type) {
    case 'container.hibernate':
      return message.containerId
    case 'execution.step':
      return message.executionId
    case 'response.step':
      return message.responseId
    case 'webhook.deliver':
      return message.deliveryId
  }
}

function parse(body: string): JobMessage | null {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return null
  }
  return ExecutionMessage.safeParse(json).data ?? TurnMessage.safeParse(json).data ?? WebhookMessage.safeParse(json).data ?? null
}
