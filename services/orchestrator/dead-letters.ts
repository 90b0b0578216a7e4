import { topicOf } from '../core/events.ts'
import { LEASE_MS } from '../core/lease.ts'
import { ExecutionMessage, TurnMessage, type QueueName } from '../core/messages.ts'
import type { ReconcilerDeps } from './deps.ts'
import { endDeadLetter } from './run/end-without-result.ts'

/**
 * What becomes of a message that failed every time: the job it names ends `failed` with the reason `dead_letter`. One that names no job
 * is reported and dropped. A job that ended meanwhile stays as it is.
 */
export function createDeadLetterStep(deps: ReconcilerDeps): (queue: QueueName, body: string) => Promise<void> {
  return async (queue, body) => {
    const message = parse(body)
    const execution = ExecutionMessage.safeParse(message)
    const turn = TurnMessage.safeParse(message)
    const now = deps.clock.now()
    const lease = { owner: deps.workerId, now, expiresAt: now + LEASE_MS }
    if (execution.success) {
      const taken = await deps.table.executions.take(execution.data.tenant, execution.data.executionId, lease)
      if (taken.kind === 'busy') throw new Error('Somebody works on it; look again later')
      if (taken.kind === 'taken') await endDeadLetter(deps, taken.row)
    } else if (turn.success) {
      await endResponse(deps, turn.data, lease)
    }
    deps.telemetry.emit({
      event: 'dead_letter',
      outcome: execution.success || turn.success ? 'job_failed' : 'unknown_message',
      queue,
      bytes: body.length,
    })
  }
}

async function endResponse(
  deps: ReconcilerDeps,
  message: TurnMessage,
  lease: { owner: string; now: number; expiresAt: number },
): Promise<void> {
  const { tenant, responseId } = message
  const taken = await deps.table.responses.take(tenant, responseId, lease)
  if (taken.kind === 'busy') throw new Error('Somebody works on it; look again later')
  if (taken.kind !== 'taken') return
  const error = { code: 'dead_letter', message: 'Every try to work on this response failed; the operator finds the cause in the logs.' }
  await deps.table.responses.commit(tenant, responseId, taken.row.fence, { status: 'failed', error, completedAt: lease.now })
  deps.signals.notify(topicOf('response', responseId))
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
