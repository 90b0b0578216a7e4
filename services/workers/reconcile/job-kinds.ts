import type { JobName } from '../../model/due-names.ts'
import type { JobMessages } from '../../model/messages.ts'
import type { DueRow } from '../../ports/table.ts'
import { failAsDeadLetter, type DeadLetterOutcome } from '../../jobs/dead-letter.ts'
import { executionJob } from '../../operations/executions/execution-job.ts'
import { responseJob } from '../../operations/turns/response-job.ts'
import type { ReconcilerDeps, RepairDeps } from '../deps.ts'
import { giveUpHibernation } from './give-up-hibernation.ts'
import { repairContainer } from './repair-container.ts'
import { repairDelivery } from './repair-delivery.ts'
import { repairExecution, repairResponse } from './repair-jobs.ts'

/** What the reconciler does with one kind of job. `JOB_MESSAGES` has the message and the queue of each. */
interface JobKind<Message> {
  /** After the message failed every time. `busy`: another worker holds the job. A job that ended meanwhile stays as it is. */
  endAsDeadLetter(deps: ReconcilerDeps, message: Message): Promise<DeadLetterOutcome>
  /** Completes or enqueues what a crash or a lost message left undone. */
  repair(deps: RepairDeps, row: DueRow): Promise<void>
}

export const JOB_KINDS: { readonly [Name in JobName]: JobKind<JobMessages[Name]> } = {
  execution: {
    endAsDeadLetter: (deps, { tenant, executionId }) => failAsDeadLetter(deps, executionJob(deps), { tenant, id: executionId }),
    repair: repairExecution,
  },
  response: {
    endAsDeadLetter: (deps, { tenant, responseId }) => failAsDeadLetter(deps, responseJob(deps), { tenant, id: responseId }),
    repair: repairResponse,
  },
  delivery: {
    // Its row is due by itself and has retries of 24 hours.
    endAsDeadLetter: () => Promise.resolve('ended'),
    repair: repairDelivery,
  },
  container: { endAsDeadLetter: giveUpHibernation, repair: repairContainer },
}
