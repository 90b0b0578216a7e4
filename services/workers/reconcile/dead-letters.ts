import { describeCause } from '../../model/describe-cause.ts'
import { JOB_NAMES, type JobName } from '../../model/due-names.ts'
import { JOB_MESSAGES, QUEUES, type QueueName } from '../../model/messages.ts'
import { inTrace } from '../../model/trace.ts'
import type { DeadLetterOutcome } from '../../jobs/dead-letter.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { JOB_KINDS } from './job-kinds.ts'

/**
 * Handles a message that failed every time: the job it names ends `failed` with the reason `dead_letter`, and a container whose variables could
 * not be saved loses its sandbox. A message that names neither is reported and dropped. A job that ended meanwhile stays as it is. Throws when
 * the job is busy.
 */
export function createDeadLetterStep(deps: ReconcilerDeps): (queue: QueueName, body: string) => Promise<void> {
  return async (queue, body) => {
    const found = readJob(parseJson(body))
    if ((await found?.end(deps)) === 'busy') throw new Error('Another worker holds this job. Retry later.')
    deps.telemetry.emit({
      event: 'dead_letter',
      outcome: found === null ? 'unknown_message' : 'job_failed',
      queue,
      tenant: found?.tenant ?? null,
      job: found?.job ?? null,
      bytes: body.length,
    })
  }
}

interface FailedJob {
  readonly tenant: string
  readonly job: string
  end(deps: ReconcilerDeps): Promise<DeadLetterOutcome>
}

/** The job that a message names; null when it names none. */
function readJob(message: unknown): FailedJob | null {
  for (const name of JOB_NAMES) {
    const found = readAs(name, message)
    if (found !== null) return found
  }
  return null
}

function readAs<Name extends JobName>(name: Name, message: unknown): FailedJob | null {
  const kind = JOB_MESSAGES[name]
  const { data } = kind.schema.safeParse(message)
  if (data === undefined) return null
  return { tenant: data.tenant, job: kind.idOf(data), end: (deps) => JOB_KINDS[name].endAsDeadLetter(deps, data) }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
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
