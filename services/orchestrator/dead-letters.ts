import { failAsDeadLetter, type DeadLetterOutcome } from '../core/responses/fail-as-dead-letter.ts'
import { newLease } from '../core/lease.ts'
import { ExecutionMessage, TurnMessage, type QueueName } from '../core/messages.ts'
import { joinTrace } from '../core/trace.ts'
import type { ReconcilerDeps } from './deps.ts'
import { giveUpHibernation } from './reconciler/give-up-hibernation.ts'
import { endDeadLetter } from './run/end-without-result.ts'

/**
 * What becomes of a message that failed every time: the job it names ends `failed` with the reason `dead_letter`, and a container that could
 * not be saved loses its sandbox. One that names neither is reported and dropped. A job that ended meanwhile stays as it is. Throws when the
 * job is busy.
 */
export function createDeadLetterStep(deps: ReconcilerDeps): (queue: QueueName, body: string) => Promise<void> {
  return async (queue, body) => {
    const message = parse(body)
    const execution = ExecutionMessage.safeParse(message)
    const turn = TurnMessage.safeParse(message)
    const buried = execution.success
      ? await buryWork(deps, execution.data)
      : turn.success
        ? await failAsDeadLetter(deps, turn.data.tenant, turn.data.responseId)
        : null
    if (buried === 'busy') throw new Error('Somebody works on it; look again later')
    const named = execution.data ?? turn.data
    deps.telemetry.emit({
      event: 'dead_letter',
      outcome: buried === null ? 'unknown_message' : 'job_failed',
      queue,
      tenant: named?.tenant ?? null,
      job:
        named === undefined
          ? null
          : 'responseId' in named
            ? named.responseId
            : 'executionId' in named
              ? named.executionId
              : named.containerId,
      bytes: body.length,
    })
  }
}

const buryWork = (deps: ReconcilerDeps, message: ExecutionMessage): Promise<DeadLetterOutcome> =>
  message.type === 'container.hibernate' ? giveUpHibernation(deps, message) : buryExecution(deps, message.tenant, message.executionId)

/** Ends an execution that no step gets to its end, unless it has ended. */
export async function buryExecution(deps: ReconcilerDeps, tenant: string, id: string): Promise<DeadLetterOutcome> {
  const taken = await deps.table.executions.acquireLease(tenant, id, newLease(deps))
  if (taken.kind === 'busy') return 'busy'
  if (taken.kind === 'taken') {
    joinTrace(taken.row.traceparent)
    await endDeadLetter(deps, taken.row)
  }
  return 'buried'
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
